import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import { order, type Hardware, type HardwareAction, type HardwareKind } from "../../api/operator";
import { useFlash } from "../../app/Flashes";
import { Consequences } from "../../components/Consequences";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { useChange } from "../../components/useChange";
import { useFormat } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

const REASON_LENGTH = 200;

type Props = { kind: HardwareKind; action: HardwareAction; items: Hardware[]; onClose: (done: boolean) => void };

/** What an order does to machines or hosts and to the customers on them, before it is given. */
export function HardwareActionModal({ kind, action, items, onClose }: Props) {
  const s = useOperatorStrings();
  const f = useFormat();
  const flash = useFlash();
  const [reason, setReason] = useState("");
  const names = items.map((each) => each.name);
  const held = items.filter((each) => each.holder?.cluster);
  const asks = action !== "return" && action !== "validate";
  const run = useChange(
    () => order(action, kind, names, reason.trim()),
    () => {
      flash({ type: "success", content: s.ordered(s.orders[action], f.list(names)) });
      onClose(true);
    },
    "operator",
  );
  const whose = asks && held.length > 0 ? [s.of[kind].heldBy(held.length, f.list([...new Set(held.map((each) => each.holder?.name ?? ""))]))] : [];
  return (
    <Dialog
      title={`${s.orders[action]}: ${names.length === 1 ? names[0] : s.of[kind].count(names.length)}`}
      submit={s.orders[action]}
      ready={!asks || reason.trim() !== ""}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={() => onClose(false)}
    >
      <Consequences of={names} lines={[...s.of[kind].consequences[action], ...whose]} />
      {asks && (
        <Field at="/reason" label={s.reason} description={s.reasonText}>
          <Input value={reason} onChange={({ detail }) => setReason(detail.value.slice(0, REASON_LENGTH))} autoFocus />
        </Field>
      )}
    </Dialog>
  );
}
