import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import type { Partition } from "../../../api/partitions";
import { Copyable } from "../../../components/Copyable";
import { useFormat, useStrings } from "../../../i18n";
import { usePartitionStrings } from "../../../i18n/partitions";
import { PartitionState, Trouble, usePartitionName } from "./columns";

export function PartitionFacts({ partition }: { partition: Partition }) {
  const { common } = useStrings();
  const s = usePartitionStrings();
  const f = useFormat();
  const name = usePartitionName();
  return (
    <KeyValuePairs
      columns={1}
      items={[
        { label: s.details, value: name(partition) },
        { label: common.state, value: <PartitionState partition={partition} /> },
        ...(partition.controller ? [{ label: s.errors, value: <Trouble partition={partition} /> }] : []),
        { label: s.origin, value: s.origins[partition.origin] },
        ...(partition.reconfigurable === null ? [] : [{ label: s.reconfigurable, value: partition.reconfigurable ? common.yes : common.no }]),
        { label: s.id, value: <Copyable text={partition.partition_id} label={s.id} /> },
        { label: s.observed, value: partition.observed_at ? f.moment(partition.observed_at) : common.none },
      ]}
    />
  );
}
