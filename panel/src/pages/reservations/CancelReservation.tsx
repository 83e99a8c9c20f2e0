import { cancelReservation, type Reservation } from "../../api/reservations";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useFormat } from "../../i18n";
import { useReservationStrings } from "../../i18n/reservations";

export function CancelReservation({ reservation, onClose }: { reservation: Reservation; onClose: () => void }) {
  const s = useReservationStrings();
  const f = useFormat();
  const flash = useFlash();
  const project = useProject();
  const run = useChange(() => cancelReservation(project, reservation.id), () => {
    flash({ type: "success", content: s.cancelled(reservation.name) });
    onClose();
  });
  return (
    <Dialog
      title={s.cancelTitle(reservation.name)}
      submit={s.cancel}
      cancel={s.keep}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <Consequences type="warning" lines={s.cancelWhat(f.number(reservation.machines))} />
    </Dialog>
  );
}
