import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import { setLimit } from "../../../api/tenants";
import { useFlash } from "../../../app/Flashes";
import { Dialog } from "../../../components/Dialog";
import { MachineTypeField, type MachineTypeOf } from "../../../components/MachineTypeField";
import { useChange } from "../../../components/useChange";
import { useTenantStrings } from "../../../i18n/tenants";

type Props = { project: string; seen: { items: Schemas["Quota"][]; version: string }; quota: Schemas["Quota"] | undefined; onClose: () => void };

/** How many machines of a type a project may hold in a region. */
export function SetLimit({ project, seen, quota, onClose }: Props) {
  const s = useTenantStrings();
  const flash = useFlash();
  const [what, setWhat] = useState<MachineTypeOf | undefined>(quota);
  const [limit, setNewLimit] = useState(quota ? String(quota.limit) : "");
  const run = useChange(
    () => setLimit(project, seen, { region: what?.region ?? "", machine_type: what?.machine_type ?? "", limit: Number(limit) }),
    () => {
      flash({ type: "success", content: s.limitSet(what?.machine_type ?? "", what?.region ?? "") });
      onClose();
    },
    "operator",
  );
  const ready = what !== undefined && /^\d+$/.test(limit);
  return (
    <Dialog title={s.setLimit} submit={s.setLimit} ready={ready} pending={run.isPending} error={run.error} onSubmit={() => run.mutate()} onClose={onClose}>
      <MachineTypeField label={s.machineType} placeholder={s.choose} value={what} disabled={quota !== undefined} onChange={setWhat} />
      <FormField label={s.newLimit} description={s.limitText}>
        <Input value={limit} type="number" inputMode="numeric" onChange={({ detail }) => setNewLimit(detail.value)} />
      </FormField>
    </Dialog>
  );
}
