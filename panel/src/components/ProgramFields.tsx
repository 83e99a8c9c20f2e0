import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import type { Cluster } from "../api/queries";
import { useFormat, useStrings } from "../i18n";
import { useJobStrings } from "../i18n/jobs";
import { Field } from "./Field";
import { useServerName } from "./useServerName";
import { wordsOf } from "./words";

type Variable = { name: string; value: string };
export type Program = { line: string; directory: string; server: string; variables: Variable[]; image: string; user: string; password: string };

export const NO_PROGRAM: Program = { line: "", directory: "", server: "", variables: [], image: "", user: "", password: "" };

/** Whether all of it can be sent. */
export const complete = (draft: Program) => !!wordsOf(draft.line)?.length && (!draft.image || !draft.user || draft.password !== "");

export const environmentOf = (variables: Variable[]) => Object.fromEntries(variables.filter((each) => each.name).map((each) => [each.name, each.value]));

type Props = { cluster: Cluster; draft: Program; placeholder?: string; change: (part: Partial<Program>) => void };

/** A program for one of a cluster's servers: its command, where it starts, and the image that it runs in. */
export function ProgramFields({ cluster, draft, placeholder, change }: Props) {
  const s = useJobStrings();
  const f = useFormat();
  const serverName = useServerName(cluster);
  const servers = cluster.poplar_servers.map((each) => ({ value: each.name, label: serverName(each.name), description: each.name }));
  const words = wordsOf(draft.line);
  const read = words?.length ? s.words(f.list(words.map((each) => `“${each}”`))) : undefined;
  return (
    <>
      <Field at="/command" stretch label={s.command} description={s.commandHelp} errorText={words ? undefined : s.openQuote} constraintText={read}>
        <Input value={draft.line} placeholder={placeholder} onChange={({ detail }) => change({ line: detail.value })} autoComplete={false} spellcheck={false} autoFocus />
      </Field>
      <Field at="/directory" label={s.directory} description={s.directoryHelp}>
        <Input value={draft.directory} onChange={({ detail }) => change({ directory: detail.value })} autoComplete={false} spellcheck={false} />
      </Field>
      {servers.length > 1 && (
        <Field at="/poplar_server" label={s.server}>
          <Select
            options={servers}
            selectedOption={servers.find((each) => each.value === draft.server) ?? null}
            onChange={({ detail }) => change({ server: detail.selectedOption.value ?? "" })}
          />
        </Field>
      )}
      <Field at="/image" label={s.image} description={s.imageHelp}>
        <Input value={draft.image} placeholder="ghcr.io/example/train:1.2" onChange={({ detail }) => change({ image: detail.value })} autoComplete={false} spellcheck={false} />
      </Field>
      {draft.image && (
        <Field at="/registry/username" label={s.registryUser} description={s.registryUserHelp}>
          <Input value={draft.user} onChange={({ detail }) => change({ user: detail.value })} autoComplete={false} spellcheck={false} />
        </Field>
      )}
      {draft.image && draft.user && (
        <Field at="/registry" label={s.registryPassword} description={s.registryPasswordHelp}>
          <Input value={draft.password} type="password" onChange={({ detail }) => change({ password: detail.value })} autoComplete={false} />
        </Field>
      )}
    </>
  );
}

/** The variables of a program, with their values. */
export function Variables({ variables, onChange }: { variables: Variable[]; onChange: (variables: Variable[]) => void }) {
  const { common, create } = useStrings();
  const s = useJobStrings();
  const put = (index: number, part: Partial<Variable>) => onChange(variables.map((each, at) => (at === index ? { ...each, ...part } : each)));
  return (
    <Field at="/environment" stretch label={s.environment} description={s.environmentHelp}>
      <AttributeEditor
        items={variables}
        empty={s.noVariables}
        addButtonText={s.addVariable}
        removeButtonText={create.removeTag}
        onAddButtonClick={() => onChange([...variables, { name: "", value: "" }])}
        onRemoveButtonClick={({ detail }) => onChange(variables.filter((_, at) => at !== detail.itemIndex))}
        definition={[
          { label: common.name, control: (item, index) => <Input value={item.name} onChange={({ detail }) => put(index, { name: detail.value })} /> },
          { label: create.tagValue, control: (item, index) => <Input value={item.value} onChange={({ detail }) => put(index, { value: detail.value })} /> },
        ]}
      />
    </Field>
  );
}
