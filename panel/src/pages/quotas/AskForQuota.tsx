import Input from "@cloudscape-design/components/input";
import Textarea from "@cloudscape-design/components/textarea";
import { useState } from "react";
import { api, type Schemas } from "../../api/client";
import { useFlash } from "../../app/Flashes";
import { useProject } from "../../app/Project";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { MachineTypeField, type MachineTypeOf } from "../../components/MachineTypeField";
import { useChange } from "../../components/useChange";
import { useFormat, useStrings } from "../../i18n";

/** Asks the operator for more machines of a type in a region. */
export function AskForQuota({ quotas, onClose }: { quotas: Schemas["Quota"][]; onClose: () => void }) {
  const { quotas: s } = useStrings();
  const f = useFormat();
  const flash = useFlash();
  const project = useProject();
  const [chosen, setChosen] = useState<MachineTypeOf>();
  const [limit, setLimit] = useState("");
  const [reason, setReason] = useState("");
  const { region, machine_type } = chosen ?? { region: "", machine_type: "" };
  const present = quotas.find((each) => each.region === region && each.machine_type === machine_type)?.limit ?? 0;
  const run = useChange(
    () => api.POST("/v1/projects/{project}/quota-requests", { params: { path: { project } }, body: { region, machine_type, limit: Number(limit), reason: reason.trim() } }),
    () => {
      flash({ type: "success", content: s.sent });
      onClose();
    },
  );
  return (
    <Dialog
      title={s.ask}
      submit={s.send}
      ready={chosen !== undefined && /^\d+$/.test(limit) && reason.trim() !== ""}
      pending={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      onClose={onClose}
    >
      <MachineTypeField label={s.machineType} placeholder={s.choose} value={chosen} onChange={setChosen} />
      <Field at="/limit" label={s.newLimit} description={chosen && s.present(f.number(present))}>
        <Input value={limit} onChange={({ detail }) => setLimit(detail.value)} type="number" inputMode="numeric" />
      </Field>
      <Field at="/reason" label={s.reason} description={s.reasonHelp}>
        <Textarea value={reason} onChange={({ detail }) => setReason(detail.value)} rows={3} />
      </Field>
    </Dialog>
  );
}
