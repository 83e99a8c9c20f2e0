import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import type { Schemas } from "../../api/client";
import { createJob, type Job } from "../../api/jobs";
import type { Cluster } from "../../api/queries";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { MoneyField } from "../../components/MoneyField";
import { complete, environmentOf, NO_PROGRAM, ProgramFields, Variables, type Program } from "../../components/ProgramFields";
import { useChange } from "../../components/useChange";
import { wordsOf } from "../../components/words";
import { useFormat } from "../../i18n";
import { useJobStrings } from "../../i18n/jobs";

type Draft = Program & { retries: string; minutes: string; cost: string };

/** The request that the draft stands for; `cost`: its limit, if it has one. */
export function jobOf(draft: Draft, cost: Schemas["Money"] | null): Schemas["JobCreate"] {
  return {
    command: wordsOf(draft.line) ?? [],
    environment: environmentOf(draft.variables),
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
  const [draft, setDraft] = useState<Draft>({ ...NO_PROGRAM, server: cluster.poplar_servers[0]?.name ?? "", retries: "0", minutes: "", cost: "" });
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const currency = cluster.price_per_minute?.currency;
  const amount = f.fromDecimal(draft.cost, f.minorDigits(currency ?? ""));
  const run = useChange(() => createJob(project, cluster.id, jobOf(draft, amount !== null && currency ? { amount, currency } : null)), onClose);
  return (
    <Dialog
      large
      title={s.runOn(cluster.name)}
      submit={s.run}
      ready={complete(draft) && /^\d+$/.test(draft.retries) && (draft.cost.trim() === "" || amount !== null)}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <ProgramFields cluster={cluster} draft={draft} change={change} placeholder="ipu-run -- python3 train.py" />
      <Variables variables={draft.variables} onChange={(variables) => change({ variables })} />
      <Field at="/max_minutes" label={s.maxMinutes} description={s.maxMinutesHelp}>
        <Input value={draft.minutes} type="number" inputMode="numeric" onChange={({ detail }) => change({ minutes: detail.value })} />
      </Field>
      {currency && <MoneyField at="/max_cost" label={s.maxCost(currency)} description={s.maxCostHelp} currency={currency} value={draft.cost} onChange={(cost) => change({ cost })} />}
      <Field at="/retries" label={s.retries} description={s.retriesHelp}>
        <Input value={draft.retries} type="number" inputMode="numeric" onChange={({ detail }) => change({ retries: detail.value })} />
      </Field>
    </Dialog>
  );
}
