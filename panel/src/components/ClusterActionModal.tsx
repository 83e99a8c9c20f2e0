import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { api } from "../api/client";
import type { ClusterSummary } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useProject } from "../app/Project";
import { useFormat, useStrings } from "../i18n";
import { Consequences } from "./Consequences";
import { Dialog } from "./Dialog";
import { useChange } from "./useChange";

export type ClusterAction = "suspend" | "resume" | "reboot" | "powerCycle" | "delete";

function send(project: string, action: ClusterAction, cluster: string): Promise<unknown> {
  const params = { path: { project, cluster } };
  if (action === "delete") return api.DELETE("/v1/projects/{project}/clusters/{cluster}", { params });
  if (action === "suspend") return api.POST("/v1/projects/{project}/clusters/{cluster}:suspend", { params });
  if (action === "reboot") return api.POST("/v1/projects/{project}/clusters/{cluster}:reboot", { params });
  if (action === "powerCycle") return api.POST("/v1/projects/{project}/clusters/{cluster}:power-cycle", { params });
  return api.POST("/v1/projects/{project}/clusters/{cluster}:resume", { params });
}

type Props = { action: ClusterAction; clusters: ClusterSummary[]; onClose: (done: boolean) => void };

/** What an action does to one or several clusters, before it does it. */
export function ClusterActionModal({ action, clusters, onClose }: Props) {
  const { common, clusters: s } = useStrings();
  const flash = useFlash();
  const project = useProject();
  const [typed, setTyped] = useState("");
  const [left, setLeft] = useState(clusters);
  const what = left.length === 1 ? (left[0]?.name ?? "") : s.count(left.length);
  const expected = left.length === 1 ? what : s.typeDelete;
  const ready = action !== "delete" || typed === expected;
  const run = useChange(async () => {
    for (const [accepted, each] of left.entries()) {
      await send(project, action, each.id).catch((error: unknown) => {
        setLeft(left.slice(accepted)); // a second try leaves out what was accepted
        throw error;
      });
      flash({ type: "success", content: s.done[action](each.name) });
    }
  }, () => onClose(true));
  const titles = {
    suspend: s.suspendTitle, delete: s.deleteTitle, resume: s.resumeTitle, reboot: s.rebootTitle, powerCycle: s.powerCycleTitle,
  };
  return (
    <Dialog
      title={titles[action](what)}
      submit={action === "delete" ? common.remove : s[action]}
      ready={ready}
      missing={s.typeName(expected)}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose(false)}
    >
      <WhatItDoes action={action} clusters={left} />
      {action === "delete" && (
        <FormField label={s.typeName(expected)}>
          <Input value={typed} onChange={(event) => setTyped(event.detail.value)} autoComplete="off" autoFocus />
        </FormField>
      )}
    </Dialog>
  );
}

function WhatItDoes({ action, clusters }: { action: ClusterAction; clusters: ClusterSummary[] }) {
  const s = useStrings().clusters;
  const f = useFormat();
  const lines = {
    suspend: s.suspendWhat, delete: s.deleteWhat, resume: s.resumeWhat, reboot: s.rebootWhat, powerCycle: s.powerCycleWhat,
  }[action];
  const ends = action === "suspend" || action === "delete";
  const restarts = action === "reboot" || action === "powerCycle";
  const prices = clusters.map((each) => (action === "resume" ? each.price_per_minute : each.billing.cost_per_minute)).filter((each) => each !== null);
  const perHour = prices.reduce((sum, each) => sum + Number(each.amount) * 60, 0);
  const currency = prices[0]?.currency;
  const parts = clusters.reduce((sum, each) => sum + each.partitions.length, 0);
  const money = !restarts && currency && perHour > 0 ? [(action === "resume" ? s.costs : s.saves)(f.amount(perHour, currency))] : [];
  const minutes = clusters.reduce((sum, each) => sum + each.billing.minutes, 0);
  const spent = clusters.map((each) => each.billing.cost).filter((each) => each !== null);
  const total = spent.reduce((sum, each) => sum + Number(each.amount), 0);
  const soFar = ends && spent[0] ? [s.billedSoFar(minutes, f.number(minutes), f.amount(total, spent[0].currency))] : [];
  const lost = !restarts && action !== "resume" && parts > 0 ? [s.partitionsLost(parts)] : [];
  return <Consequences type={action === "delete" ? "warning" : "info"} of={clusters.map((each) => each.name)} lines={[...lines, ...money, ...soFar, ...lost]} />;
}
