import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { rescheduleRepair } from "../../../api/cluster";
import { useFlash } from "../../../app/Flashes";
import { useProject } from "../../../app/Project";
import { Dialog } from "../../../components/Dialog";
import { Field } from "../../../components/Field";
import { MomentInput } from "../../../components/MomentInput";
import { useChange } from "../../../components/useChange";
import { useFormat } from "../../../i18n";
import { useRepairStrings } from "../../../i18n/repairs";

/** Chooses another time for the scheduled repair. */
export function Reschedule({ cluster, repair, onClose }: { cluster: string; repair: Schemas["ScheduledRepair"]; onClose: () => void }) {
  const s = useRepairStrings();
  const f = useFormat();
  const flash = useFlash();
  const project = useProject();
  const [starts, setStarts] = useState(repair.starts_at);
  const run = useChange(() => rescheduleRepair(project, cluster, starts), () => {
    flash({ type: "success", content: s.rescheduled(f.moment(starts)) });
    onClose();
  });
  return (
    <Dialog title={s.rescheduleTitle} submit={s.reschedule} ready={starts !== ""} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Field at="/starts_at" label={s.startsAt} description={s.latest(f.moment(repair.latest_at))}>
        <MomentInput value={starts} onChange={setStarts} label={s.startsAt} />
      </Field>
    </Dialog>
  );
}
