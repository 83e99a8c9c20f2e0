import { useStrings } from "../../i18n";
import type { TopologyData } from "./layout";

const COLOURS = 6;

/** The class of a partition's colour, or of free IPUs. */
export function colourOf(data: TopologyData, partition: string | null): string {
  const index = data.partitions.findIndex((each) => each.partition_id === partition || each.name === partition);
  return index < 0 ? "is-free" : `is-partition-${index % COLOURS}`;
}

/** Names for people: the partition that was created with the cluster has only an id. */
export function usePartitionNames(data: TopologyData): (partition: string | null) => string {
  const s = useStrings().cluster;
  return (partition) => {
    const found = data.partitions.find((each) => each.partition_id === partition || each.name === partition);
    if (!found) return s.free;
    return found.origin === "cluster" ? s.ownPartition : found.name;
  };
}
