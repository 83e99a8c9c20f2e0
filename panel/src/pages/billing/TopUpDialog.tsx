import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { useState } from "react";
import { topUp } from "../../api/billing";
import type { Schemas } from "../../api/client";
import { useProject } from "../../app/Project";
import { Copyable } from "../../components/Copyable";
import { Dialog } from "../../components/Dialog";
import { MoneyField } from "../../components/MoneyField";
import { Notice } from "../../components/Notice";
import { useChange } from "../../components/useChange";
import { useFormat } from "../../i18n";
import { useFundsStrings } from "../../i18n/money";

/** Announces a payment to the wallet, and says with which reference to transfer it. */
export function TopUpDialog({ currency, onClose }: { currency: string; onClose: () => void }) {
  const s = useFundsStrings();
  const f = useFormat();
  const project = useProject();
  const [typed, setTyped] = useState("");
  const amount = f.fromDecimal(typed, f.minorDigits(currency));
  const [made, setMade] = useState<Schemas["Payment"]>();
  const run = useChange(() => topUp(project, { amount: amount ?? "", currency }), setMade);
  if (made) {
    return (
      <Notice title={s.transfer} onClose={onClose}>
        <Box>{s.transferText}</Box>
        <KeyValuePairs columns={2} items={[
          { label: s.amount, value: f.money(made.amount) },
          { label: s.reference, value: <Copyable text={made.reference} label={s.reference} /> },
        ]} />
      </Notice>
    );
  }
  return (
    <Dialog title={s.topUp} submit={s.announce} ready={amount !== null} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <MoneyField at="/amount" label={`${s.amount} (${currency})`} description={s.topUpText} currency={currency} value={typed} onChange={setTyped} autoFocus />
    </Dialog>
  );
}
