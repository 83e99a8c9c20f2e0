import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { order, type HardwareAction, type HardwareMachine } from "../../api/operator";
import { useFlash } from "../../app/Flashes";
import { Failure } from "../../components/Failure";
import { useFormat, useStrings } from "../../i18n";

const REASON_LENGTH = 200;

type Props = { action: HardwareAction; machines: HardwareMachine[]; onClose: (done: boolean) => void };

/** What an order does to machines and to the customers on them, before it is given. */
export function HardwareActionModal({ action, machines, onClose }: Props) {
  const { common, operator: s } = useStrings();
  const f = useFormat();
  const flash = useFlash();
  const cache = useQueryClient();
  const [reason, setReason] = useState("");
  const names = machines.map((each) => each.name);
  const held = machines.filter((each) => each.holder);
  const asks = action !== "return" && action !== "validate";
  const run = useMutation({
    mutationFn: () => order(action, names, reason.trim()),
    onSuccess: () => {
      flash({ type: "success", content: s.ordered(s.orders[action], f.list(names)) });
      onClose(true);
    },
    onSettled: () => cache.invalidateQueries({ predicate: (query) => query.queryKey[0] === "operator" }),
  });
  return (
    <Modal
      visible
      header={`${s.orders[action]}: ${names.length === 1 ? names[0] : s.machineCount(names.length)}`}
      closeAriaLabel={common.close}
      onDismiss={() => onClose(false)}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={() => onClose(false)}>{common.cancel}</Button>
            <Button variant="primary" disabled={asks && !reason.trim()} loading={run.isPending} onClick={() => run.mutate()}>{s.orders[action]}</Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        <Alert type="info">
          {names.length > 1 && <Box fontWeight="bold" color="inherit">{f.list(names)}</Box>}
          <ul className="consequences">
            {s.consequences[action].map((each) => <li key={each}>{each}</li>)}
            {asks && held.length > 0 && <li>{s.heldBy(held.length, f.list([...new Set(held.map((each) => each.holder?.name ?? ""))]))}</li>}
          </ul>
        </Alert>
        {asks && (
          <FormField label={s.reason} description={s.reasonText}>
            <Input value={reason} onChange={({ detail }) => setReason(detail.value.slice(0, REASON_LENGTH))} autoFocus />
          </FormField>
        )}
        <Failure error={run.error} />
      </SpaceBetween>
    </Modal>
  );
}
