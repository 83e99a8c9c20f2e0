import { useState } from "react";
import { assignPayer, type Account } from "../../../api/tenants";
import { useFlash } from "../../../app/Flashes";
import { Consequences } from "../../../components/Consequences";
import { Dialog } from "../../../components/Dialog";
import { useChange } from "../../../components/useChange";
import { useTenantStrings } from "../../../i18n/tenants";
import { AccountField } from "./AccountField";

/** Another billing account for a project. */
export function ChangePayer({ project, present, onClose }: { project: string; present: string; onClose: () => void }) {
  const s = useTenantStrings();
  const flash = useFlash();
  const [account, setAccount] = useState<Account>();
  const run = useChange(() => assignPayer(project, account?.id ?? ""), () => {
    flash({ type: "success", content: s.payerChanged(account?.name ?? "") });
    onClose();
  }, "operator");
  return (
    <Dialog title={s.changePayer} submit={s.changePayer} ready={account !== undefined} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <Consequences lines={[s.changePayerText]} />
      <AccountField label={s.payer} value={account?.id ?? ""} without={present} onChange={(_, chosen) => setAccount(chosen)} />
    </Dialog>
  );
}
