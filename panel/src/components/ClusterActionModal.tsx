import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../api/client";
import type { ClusterSummary } from "../api/queries";
import { useFlash } from "../app/Flashes";
import { useProject } from "../app/Project";
import { useFormat, useStrings } from "../i18n";
import { Failure } from "./Failure";

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
  const cache = useQueryClient();
  const project = useProject();
  const [typed, setTyped] = useState("");
  const [left, setLeft] = useState(clusters);
  const what = left.length === 1 ? (left[0]?.name ?? "") : s.count(left.length);
  const expected = left.length === 1 ? what : s.typeDelete;
  const ready = action !== "delete" || typed === expected;
  const run = useMutation({
    mutationFn: async () => {
      for (const each of left) {
        await send(project, action, each.id);
        flash({ type: "success", content: s.done[action](each.name) });
        setLeft((now) => now.filter((other) => other.id !== each.id)); // a second try leaves out what was accepted
      }
    },
    onSuccess: () => onClose(true),
    onSettled: () => cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === "project" }),
  });
  const titles = {
    suspend: s.suspendTitle, delete: s.deleteTitle, resume: s.resumeTitle, reboot: s.rebootTitle, powerCycle: s.powerCycleTitle,
  };
  return (
    <Modal
      visible
      header={titles[action](what)}
      closeAriaLabel={common.close}
      onDismiss={() => onClose(false)}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={() => onClose(false)}>{common.cancel}</Button>
            <Button variant="primary" disabled={!ready} loading={run.isPending} onClick={() => run.mutate()}>
              {action === "delete" ? common.remove : s[action]}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Consequences action={action} clusters={left} />
        {action === "delete" && (
          <FormField label={s.typeName(expected)}>
            <Input value={typed} onChange={(event) => setTyped(event.detail.value)} autoComplete="off" autoFocus />
          </FormField>
        )}
        <Failure error={run.error} />
      </SpaceBetween>
    </Modal>
  );
}

function Consequences({ action, clusters }: { action: ClusterAction; clusters: ClusterSummary[] }) {
  const s = useStrings().clusters;
  const f = useFormat();
  const lines = {
    suspend: s.suspendWhat, delete: s.deleteWhat, resume: s.resumeWhat, reboot: s.rebootWhat, powerCycle: s.powerCycleWhat,
  }[action];
  const restarts = action === "reboot" || action === "powerCycle";
  const prices = clusters.map((each) => (action === "resume" ? each.price_per_minute : each.billing.cost_per_minute)).filter((each) => each !== null);
  const perHour = prices.reduce((sum, each) => sum + Number(each.amount) * 60, 0);
  const currency = prices[0]?.currency;
  const parts = clusters.reduce((sum, each) => sum + each.partitions.length, 0);
  return (
    <Alert type={action === "delete" ? "warning" : "info"}>
      {clusters.length > 1 && <Box fontWeight="bold" color="inherit">{f.list(clusters.map((each) => each.name))}</Box>}
      <ul className="consequences">
        {lines.map((line) => <li key={line}>{line}</li>)}
        {!restarts && currency && perHour > 0 && <li>{(action === "resume" ? s.costs : s.saves)(f.amount(perHour, currency))}</li>}
        {!restarts && action !== "resume" && parts > 0 && <li>{s.partitionsLost(parts)}</li>}
      </ul>
    </Alert>
  );
}
