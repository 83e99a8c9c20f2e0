import { useState } from "react";
import type { Cluster } from "../../api/queries";
import { useFlash } from "../../app/Flashes";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { KeyChoice } from "../../components/KeyChoice";
import { patchOf, useClusterEdit } from "../../components/useClusterEdit";
import { useStrings } from "../../i18n";
import { ConflictAlert } from "./ConflictAlert";

/** Who may log in to the servers of a cluster, while it runs. */
export function ChangeKeys({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { common, keys: s } = useStrings();
  const flash = useFlash();
  const [seen] = useState(cluster);
  const [chosen, setChosen] = useState(seen.ssh_keys);
  const { save, conflict, settle } = useClusterEdit(seen, () => {
    flash({ type: "success", content: s.changed(seen.name) });
    onClose();
  });
  const patch = patchOf(seen, { ssh_keys: chosen });
  const take = () => {
    if (conflict) setChosen(conflict.now.ssh_keys);
    settle();
  };
  return (
    <Dialog
      title={s.changeTitle(seen.name)}
      submit={common.save}
      ready={chosen.length > 0 && Object.keys(patch).length > 0}
      pending={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(patch)}
      onClose={onClose}
    >
      {conflict && <ConflictAlert conflict={conflict} onTake={take} />}
      <Consequences lines={s.changeWhat} />
      <KeyChoice chosen={chosen} onChange={setChosen} description={s.mayLogIn} problem={chosen.length ? undefined : s.lastKey} />
    </Dialog>
  );
}
