import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import Select from "@cloudscape-design/components/select";
import { useState } from "react";
import { createToken } from "../../api/access";
import type { Schemas } from "../../api/client";
import { useChoice, useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { networksIn } from "../../components/networks";
import { MomentInput } from "../../components/MomentInput";
import { SourcesField } from "../../components/SourcesField";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { useTokenStrings } from "../../i18n/tokens";
import { ClusterChoice } from "./ClusterChoice";
import { ScopeChoice } from "./ScopeChoice";
import { givable, type Role } from "./scopes";

const DAY_MS = 86_400_000;
const ROLES: Role[] = ["viewer", "operator", "billing", "owner"];
const DAYS = ["30", "90", "365"];

/** Creates a token; its secret is in the answer, once. */
export function CreateToken({ onClose }: { onClose: (made?: Schemas["NewToken"]) => void }) {
  const { common, shell } = useStrings();
  const s = useTokenStrings();
  const project = useProject();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const { who } = useChoice();
  const { narrowed } = who.token;
  const [scopes, setScopes] = useState<string[] | null>(narrowed ? [] : null);
  const offered = givable(role, { narrowed, scopes: who.scopes });
  const wanted = scopes && offered.filter((each) => scopes.includes(each));
  const [life, setLife] = useState("90");
  const [until, setUntil] = useState("");
  const [sources, setSources] = useState("");
  const [clusters, setClusters] = useState<string[]>([]);
  const run = useChange((wanted: Schemas["TokenCreate"]) => createToken(project, wanted), onClose);
  const lives = [...DAYS.map((value) => ({ value, label: s.inDays(value) })), { value: "at", label: s.atTime }, { value: "never", label: s.never }];
  const expires = () => {
    if (life === "never") return null;
    return life === "at" ? until : new Date(Date.now() + Number(life) * DAY_MS).toISOString();
  };
  return (
    <Dialog
      title={s.create}
      submit={common.create}
      ready={name.trim() !== "" && (life !== "at" || until !== "") && wanted?.length !== 0}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate({ name: name.trim(), role, scopes: wanted, expires_at: expires(), allowed_sources: networksIn(sources), clusters: clusters.length > 0 ? clusters : null })}
      onClose={() => onClose()}
    >
      <Field at="/name" label={common.name} description={s.nameHelp}>
        <Input value={name} onChange={({ detail }) => setName(detail.value)} autoComplete={false} autoFocus />
      </Field>
      <Field at="/role" label={s.role}>
        <RadioGroup
          value={role}
          onChange={({ detail }) => setRole(detail.value as Role)}
          items={ROLES.map((value) => ({ value, label: shell.roles[value] ?? value, description: s.roleText[value] }))}
        />
      </Field>
      <ScopeChoice offered={offered} all={!narrowed} chosen={wanted} onChange={setScopes} />
      <ClusterChoice chosen={clusters} onChange={setClusters} />
      <SourcesField text={sources} onChange={setSources} description={s.sourcesText} />
      <FormField label={s.expires}>
        <Select options={lives} selectedOption={lives.find((each) => each.value === life) ?? null} onChange={({ detail }) => setLife(detail.selectedOption.value ?? "90")} />
      </FormField>
      {life === "at" && (
        <Field at="/expires_at" label={s.atTime}><MomentInput value={until} onChange={setUntil} label={s.expires} /></Field>
      )}
    </Dialog>
  );
}
