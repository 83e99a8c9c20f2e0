import Checkbox from "@cloudscape-design/components/checkbox";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import type { Cluster } from "../../api/queries";
import { deployService, type Service } from "../../api/services";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { environmentOf, ProgramFields, Variables, type Program } from "../../components/ProgramFields";
import { useChange } from "../../components/useChange";
import { lineOf, wordsOf } from "../../components/words";
import { useFormat } from "../../i18n";
import { useServiceStrings } from "../../i18n/services";

/** `anew`: the variables of the present release are not kept; their values cannot be read. */
export type Release = Program & { port: string; anew: boolean };

export const releaseLike = (service: Service): Release => ({
  line: lineOf(service.command), directory: service.directory ?? "", server: service.poplar_server, image: service.image ?? "",
  user: service.registry_username ?? "", password: "", port: String(service.port), variables: [], anew: false,
});

/** The request for what the draft changes of the present release. */
export function changesOf(service: Service, draft: Release): Schemas["ServiceDeploy"] {
  const before = releaseLike(service);
  const image = draft.image.trim();
  const login = image && draft.user ? { username: draft.user, password: draft.password } : null;
  return {
    ...(draft.line !== before.line && { command: wordsOf(draft.line) ?? [] }),
    ...(draft.directory !== before.directory && { directory: draft.directory.trim() || null }),
    ...(draft.server !== before.server && { poplar_server: draft.server }),
    ...(image !== before.image && { image: image || null }),
    ...((image !== before.image || draft.user !== before.user || draft.password) && (login || before.user) && { registry: login }),
    ...(draft.port !== before.port && { port: Number(draft.port) }),
    ...(draft.anew && { environment: environmentOf(draft.variables) }),
  };
}

/** Asks for the next release of a service, which begins as the present one. */
export function Deploy({ service, cluster, onClose }: { service: Service; cluster: Cluster; onClose: (deployed?: Service) => void }) {
  const s = useServiceStrings();
  const f = useFormat();
  const project = useProject();
  const [draft, setDraft] = useState(() => releaseLike(service));
  const change = (part: Partial<Release>) => setDraft((now) => ({ ...now, ...part }));
  const changes = changesOf(service, draft);
  const run = useChange(() => deployService(project, service.cluster, service.id, changes), onClose);
  const loggedIn = changes.registry === undefined || changes.registry === null || draft.password !== "";
  return (
    <Dialog
      large
      title={s.deployTitle(service.name)}
      submit={s.deploy}
      ready={!!wordsOf(draft.line)?.length && loggedIn && /^\d+$/.test(draft.port)}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <Consequences lines={s.deployWhat} />
      <ProgramFields cluster={cluster} draft={draft} change={change} />
      <Field at="/port" label={s.port} description={s.portHelp}>
        <Input value={draft.port} type="number" inputMode="numeric" onChange={({ detail }) => change({ port: detail.value })} />
      </Field>
      <Checkbox checked={draft.anew} onChange={({ detail }) => change({ anew: detail.checked })} description={s.anewText(f.list(service.environment))}>{s.anew}</Checkbox>
      {draft.anew && <Variables variables={draft.variables} onChange={(variables) => change({ variables })} />}
    </Dialog>
  );
}
