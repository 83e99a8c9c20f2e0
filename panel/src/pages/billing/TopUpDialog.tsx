import Box from "@cloudscape-design/components/box";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { useState } from "react";
import { topUp } from "../../api/billing";
import type { Schemas } from "../../api/client";
import { useProject } from "../../app/Project";
import { Copyable } from "../../components/Copyable";
import { Dialog } from "../../components/Dialog";
import { Notice } from "../../components/Notice";
import { useChange } from "../../components/useChange";
import { useFormat } from "../../i18n";
import { useFundsStrings } from "../../i18n/money";

/** Announces a payment to the wallet, and says with which reference to transfer it. */
export function TopUpDialog({ currency, onClose }: { currency: string; onClose: () => void }) {
  const s = useFundsStrings();
  const f = useFormat();
  const project = useProject();
  const [amount, setAmount] = useState("");
  const [made, setMade] = useState<Schemas["Payment"]>();
  const run = useChange(() => topUp(project, { amount: amount.replace(",", "."), currency }), setMade);
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
    <Dialog title={s.topUp} submit={s.announce} ready={/^\d+([.,]\d{1,2})?$/.test(amount)} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <FormField label={`${s.amount} (${currency})`} description={s.topUpText}>
        <Input value={amount} inputMode="decimal" onChange={({ detail }) => setAmount(detail.value)} autoFocus />
      </FormField>
    </Dialog>
  );
}
