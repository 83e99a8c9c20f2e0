import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { ClusterSummary } from "../api/queries";
import { useFormat, useStrings } from "../i18n";

const KIND: Record<ClusterSummary["state"], StatusIndicatorProps.Type> = {
  creating: "in-progress", active: "success", degraded: "warning", resizing: "in-progress", suspending: "in-progress", suspended: "stopped",
  resuming: "in-progress", rebuilding: "in-progress", error: "error", deleting: "in-progress", deleted: "stopped",
};

type Shown = Pick<ClusterSummary, "state" | "operation" | "waiting">;

/** A cluster's state, and while an operation runs its progress and how long it still takes. */
export function ClusterState({ cluster }: { cluster: Shown }) {
  const s = useStrings();
  const f = useFormat();
  const label = s.states[cluster.state];
  const running = cluster.operation && !cluster.operation.done ? cluster.operation : null;
  const left = running?.expected_at ? (Date.parse(running.expected_at) - Date.now()) / 1000 : 0;
  if (cluster.waiting) return <StatusIndicator type="pending">{`${label}, ${s.clusters.waitsForRoom}`}</StatusIndicator>;
  return (
    <StatusIndicator type={KIND[cluster.state]}>
      {running ? `${label}, ${f.percent(running.progress / 100)}${left > 0 ? `, ${s.clusters.left(f.duration(left))}` : ""}` : label}
    </StatusIndicator>
  );
}
