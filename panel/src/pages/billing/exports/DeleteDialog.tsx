import Alert from "@cloudscape-design/components/alert";
import { useFlash } from "../../../app/Flashes";
import { Dialog } from "../../../components/Dialog";
import { useBillingChange } from "../../../app/useBillingScope";
import { useStrings } from "../../../i18n";
import { useExportStrings } from "../../../i18n/exports";

type Props = { name: string; text: string; remove: () => Promise<unknown>; onClose: () => void };

export function DeleteDialog({ name, text, remove, onClose }: Props) {
  const { common } = useStrings();
  const s = useExportStrings();
  const flash = useFlash();
  const run = useBillingChange(remove, () => {
    flash({ type: "success", content: s.deleted(name) });
    onClose();
  });
  return (
    <Dialog title={s.deleteTitle(name)} submit={common.remove} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Alert type="info">{text}</Alert>
    </Dialog>
  );
}
