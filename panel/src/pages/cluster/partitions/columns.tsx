import Box from "@cloudscape-design/components/box";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import StatusIndicator, { type StatusIndicatorProps } from "@cloudscape-design/components/status-indicator";
import type { TableProps } from "@cloudscape-design/components/table";
import type { Partition } from "../../../api/partitions";
import { useFormat, useStrings } from "../../../i18n";
import { usePartitionStrings } from "../../../i18n/partitions";
import type { PartitionAction } from "./PartitionActionModal";

const KIND: Record<Partition["state"], StatusIndicatorProps.Type> = {
  creating: "in-progress", active: "success", resetting: "in-progress", error: "error", unknown: "pending", missing: "warning", removing: "in-progress", removed: "stopped",
};

/** A partition by its name; the one that was created with the cluster has only an id. */
export function usePartitionName(): (partition: Pick<Partition, "name" | "origin">) => string {
  const s = useStrings().cluster;
  return (partition) => (partition.origin === "cluster" ? s.ownPartition : partition.name);
}

export function PartitionState({ partition }: { partition: Partition }) {
  const s = usePartitionStrings();
  return (
    <>
      <StatusIndicator type={KIND[partition.state]}>{s.states[partition.state]}</StatusIndicator>
      {partition.state_reason && <Box variant="small" display="block">{partition.state_reason}</Box>}
    </>
  );
}

/** What the controller says is wrong, and how often it has reset the partition. */
export function Trouble({ partition }: { partition: Partition }) {
  const { common } = useStrings();
  const s = usePartitionStrings();
  const f = useFormat();
  const status = partition.controller;
  if (!status) return <>{common.none}</>;
  return (
    <>
      {status.errors.map((error) => <div key={error}>{error}</div>)}
      {status.auto_resets > 0 && (
        <Box variant="small" display="block">
          {s.resets}: {s.resetsOf(f.number(status.auto_resets), f.number(status.max_auto_resets))}
          {status.last_auto_reset_at && `, ${s.lastReset(f.clock(status.last_auto_reset_at))}`}
        </Box>
      )}
    </>
  );
}

export function usePartitionColumns(onAction?: (action: PartitionAction, partition: Partition) => void): TableProps.ColumnDefinition<Partition>[] {
  const { common } = useStrings();
  const s = usePartitionStrings();
  const f = useFormat();
  const name = usePartitionName();
  const count = (number: number | null) => (number === null ? common.none : f.number(number));
  return [
    { id: "name", header: common.name, isRowHeader: true, cell: name },
    { id: "state", header: common.state, minWidth: 150, cell: (each) => <PartitionState partition={each} /> },
    { id: "size", header: s.size, cell: (each) => count(each.size) },
    { id: "gcds", header: s.gcds, cell: (each) => count(each.gcds) },
    { id: "trouble", header: s.errors, minWidth: 200, cell: (each) => <Trouble partition={each} /> },
    { id: "created", header: common.created, sortingField: "created_at", cell: (each) => f.moment(each.created_at) },
    ...(onAction ? [{
      id: "actions", header: common.actions,
      cell: (each: Partition) => each.state !== "removed" && (
        <ButtonDropdown
          variant="inline-icon"
          expandToViewport
          ariaLabel={s.actionsOf(name(each))}
          items={[
            { id: "reset", text: s.reset, disabled: each.operation !== null || each.origin === "customer" || ["missing", "removing"].includes(each.state) },
            { id: "remove", text: s.remove, disabled: each.origin === "customer" || each.state === "removing" },
          ]}
          onItemClick={({ detail }) => onAction(detail.id as PartitionAction, each)}
        />
      ),
    }] : []),
  ];
}
