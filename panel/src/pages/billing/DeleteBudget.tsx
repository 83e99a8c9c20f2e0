import Alert from "@cloudscape-design/components/alert";
import { deleteBudget, type Budget } from "../../api/billing";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { useChange } from "../../components/useChange";
import { useStrings } from "../../i18n";
import { useBudgetStrings } from "../../i18n/money";

export function DeleteBudget({ budget, onClose }: { budget: Budget; onClose: () => void }) {
  const { common } = useStrings();
  const s = useBudgetStrings();
  const flash = useFlash();
  const project = useProject();
  const run = useChange(() => deleteBudget(project, budget.id), () => {
    flash({ type: "success", content: s.deleted(budget.name) });
    onClose();
  });
  return (
    <Dialog title={s.deleteTitle(budget.name)} submit={common.remove} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Alert type="info">{s.deleteText}</Alert>
    </Dialog>
  );
}
