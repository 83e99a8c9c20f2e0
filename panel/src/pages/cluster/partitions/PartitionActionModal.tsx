import Checkbox from "@cloudscape-design/components/checkbox";
import { useState } from "react";
import { removePartition, resetPartition, type Partition } from "../../../api/partitions";
import { useFlash } from "../../../app/Flashes";
import { useProject } from "../../../app/Project";
import { Consequences } from "../../../components/Consequences";
import { Dialog } from "../../../components/Dialog";
import { useChange } from "../../../components/useChange";
import { useFormat } from "../../../i18n";
import { usePartitionStrings } from "../../../i18n/partitions";
import { usePartitionName } from "./columns";

export type PartitionAction = "reset" | "remove";
type Props = { cluster: string; action: PartitionAction; partition: Partition; last: boolean; onClose: (operation?: string) => void };

/** What a reset or removal does, before it does it; `last`: there is no other partition. */
export function PartitionActionModal({ cluster, action, partition, last, onClose }: Props) {
  const s = usePartitionStrings();
  const f = useFormat();
  const flash = useFlash();
  const project = useProject();
  const name = usePartitionName()(partition);
  const [relocatable, setRelocatable] = useState(false);
  const run = useChange(
    () => (action === "reset" ? resetPartition(project, cluster, partition.id, relocatable) : removePartition(project, cluster, partition.id)),
    (operation) => {
      flash({ type: "success", content: (action === "reset" ? s.resetting : s.removing)(name) });
      onClose(operation.id);
    },
  );
  const what = action === "reset" ? s.resetWhat
    : [...s.removeWhat, ...(partition.size ? [s.removeFrees(f.number(partition.size))] : []), ...(last ? [s.removeLast] : [])];
  return (
    <Dialog
      title={(action === "reset" ? s.resetTitle : s.removeTitle)(name)}
      submit={s[action]}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose()}
    >
      <Consequences type="warning" lines={what} />
      {action === "reset" && (
        <Checkbox checked={relocatable} description={s.relocatableText} onChange={({ detail }) => setRelocatable(detail.checked)}>{s.relocatable}</Checkbox>
      )}
    </Dialog>
  );
}
