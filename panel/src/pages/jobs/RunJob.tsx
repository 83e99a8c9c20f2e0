import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { createJob, type Job } from "../../api/jobs";
import type { Cluster } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { MoneyField } from "../../components/MoneyField";
import { useChange } from "../../components/useChange";
import { useServerName } from "../../components/useServerName";
import { wordsOf } from "../../components/words";
import { useFormat, useStrings } from "../../i18n";
import { useJobStrings } from "../../i18n/jobs";

type Variable = { name: string; value: string };
type Draft = { line: string; directory: string; server: string; variables: Variable[]; retries: string; minutes: string; cost: string; image: string; user: string; password: string };

/** The request that the draft stands for; `cost`: its limit, if it has one. */
export function jobOf(draft: Draft, cost: Schemas["Money"] | null): Schemas["JobCreate"] {
  const environment = Object.fromEntries(draft.variables.filter((each) => each.name).map((each) => [each.name, each.value]));
  return {
    command: wordsOf(draft.line) ?? [],
    environment,
    poplar_server: draft.server,
    retries: Number(draft.retries),
    ...(draft.image && { image: draft.image.trim() }),
    ...(draft.image && draft.user && { registry: { username: draft.user, password: draft.password } }),
    ...(draft.directory && { directory: draft.directory }),
    ...(draft.minutes && { max_minutes: Number(draft.minutes) }),
    ...(cost && { max_cost: cost }),
  };
}

/** Asks for a program, where it starts, and when it is stopped at the latest. */
export function RunJob({ cluster, onClose }: { cluster: Cluster; onClose: (job?: Job) => void }) {
  const s = useJobStrings();
  const f = useFormat();
  const project = useProject();
  const serverName = useServerName(cluster);
  const servers = cluster.poplar_servers.map((each) => ({ value: each.name, label: serverName(each.name), description: each.name }));
  const [draft, setDraft] = useState<Draft>({
    line: "", directory: "", server: servers[0]?.value ?? "", variables: [], retries: "0", minutes: "", cost: "", image: "", user: "", password: "",
  });
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const currency = cluster.price_per_minute?.currency;
  const amount = f.fromDecimal(draft.cost, f.minorDigits(currency ?? ""));
  const run = useChange(() => createJob(project, cluster.id, jobOf(draft, amount !== null && currency ? { amount, currency } : null)), onClose);
  const words = wordsOf(draft.line);
  const read = words?.length ? s.words(f.list(words.map((each) => `“${each}”`))) : undefined;
  return (
    <Dialog
      large
      title={s.runOn(cluster.name)}
      submit={s.run}
      ready={read !== undefined && /^\d+$/.test(draft.retries) && (draft.cost.trim() === "" || amount !== null) && (!draft.image || !draft.user || draft.password !== "")}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <FormField stretch label={s.command} description={s.commandHelp} errorText={words ? undefined : s.openQuote} constraintText={read}>
        <Input value={draft.line} placeholder="ipu-run -- python3 train.py" onChange={({ detail }) => change({ line: detail.value })} autoComplete={false} spellcheck={false} autoFocus />
      </FormField>
      <FormField label={s.directory} description={s.directoryHelp}>
        <Input value={draft.directory} onChange={({ detail }) => change({ directory: detail.value })} autoComplete={false} spellcheck={false} />
      </FormField>
      {servers.length > 1 && (
        <FormField label={s.server}>
          <Select
            options={servers}
            selectedOption={servers.find((each) => each.value === draft.server) ?? null}
            onChange={({ detail }) => change({ server: detail.selectedOption.value ?? "" })}
          />
        </FormField>
      )}
      <FormField label={s.image} description={s.imageHelp}>
        <Input value={draft.image} placeholder="ghcr.io/example/train:1.2" onChange={({ detail }) => change({ image: detail.value })} autoComplete={false} spellcheck={false} />
      </FormField>
      {draft.image && (
        <FormField label={s.registryUser} description={s.registryUserHelp}>
          <Input value={draft.user} onChange={({ detail }) => change({ user: detail.value })} autoComplete={false} spellcheck={false} />
        </FormField>
      )}
      {draft.image && draft.user && (
        <FormField label={s.registryPassword} description={s.registryPasswordHelp}>
          <Input value={draft.password} type="password" onChange={({ detail }) => change({ password: detail.value })} autoComplete={false} />
        </FormField>
      )}
      <Variables variables={draft.variables} onChange={(variables) => change({ variables })} />
      <FormField label={s.maxMinutes} description={s.maxMinutesHelp}>
        <Input value={draft.minutes} type="number" inputMode="numeric" onChange={({ detail }) => change({ minutes: detail.value })} />
      </FormField>
      {currency && <MoneyField label={s.maxCost(currency)} description={s.maxCostHelp} currency={currency} value={draft.cost} onChange={(cost) => change({ cost })} />}
      <FormField label={s.retries} description={s.retriesHelp}>
        <Input value={draft.retries} type="number" inputMode="numeric" onChange={({ detail }) => change({ retries: detail.value })} />
      </FormField>
    </Dialog>
  );
}

function Variables({ variables, onChange }: { variables: Variable[]; onChange: (variables: Variable[]) => void }) {
  const { common, create } = useStrings();
  const s = useJobStrings();
  const put = (index: number, part: Partial<Variable>) => onChange(variables.map((each, at) => (at === index ? { ...each, ...part } : each)));
  return (
    <FormField stretch label={s.environment} description={s.environmentHelp}>
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
    </FormField>
  );
}
