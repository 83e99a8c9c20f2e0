import { repairNow } from "../../../api/cluster";
import type { Cluster } from "../../../api/queries";
import { useFlash } from "../../../app/Flashes";
import { useProject } from "../../../app/Project";
import { Consequences } from "../../../components/Consequences";
import { Dialog } from "../../../components/Dialog";
import { useChange } from "../../../components/useChange";
import { useRepairStrings } from "../../../i18n/repairs";

/** Gives a cluster other hardware in place of what has failed. */
export function RepairNow({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const s = useRepairStrings();
  const flash = useFlash();
  const project = useProject();
  const run = useChange(() => repairNow(project, cluster.id), () => {
    flash({ type: "success", content: s.started(cluster.name) });
    onClose();
  });
  return (
    <Dialog title={s.nowTitle(cluster.name)} submit={s.now} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences type="warning" lines={s.nowWhat} />
    </Dialog>
  );
}
