import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import SpaceBetween from "@cloudscape-design/components/space-between";
import TimeInput from "@cloudscape-design/components/time-input";
import { useState } from "react";
import type { Schemas } from "../../../api/client";
import type { Cluster } from "../../../api/queries";
import { useFlash } from "../../../app/Flashes";
import { DayChoice } from "../../../components/DayChoice";
import { Dialog } from "../../../components/Dialog";
import { Field } from "../../../components/Field";
import { ZoneSelect } from "../../../components/ZoneSelect";
import { patchOf, useClusterEdit } from "../../../components/useClusterEdit";
import { hereZone, useStrings } from "../../../i18n";
import { useRepairStrings } from "../../../i18n/repairs";
import { ConflictAlert } from "../ConflictAlert";

type Window = Schemas["RepairWindow"];

const suggested = (): Window => ({ days: ["sat", "sun"], starts_at: "02:00", minutes: 180, time_zone: hereZone() });

/** Whether hardware is replaced without a request, and when. */
export function EditRepairs({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { common, cluster: shared } = useStrings();
  const s = useRepairStrings();
  const flash = useFlash();
  const [seen] = useState(cluster);
  const [auto, setAuto] = useState(seen.auto_repair);
  const [limited, setLimited] = useState(seen.repair_window !== null);
  const [window, setWindow] = useState(() => seen.repair_window ?? suggested());
  const { save, conflict, settle } = useClusterEdit(seen, () => {
    flash({ type: "success", content: shared.saved(seen.name) });
    onClose();
  });
  const patch = patchOf(seen, { auto_repair: auto, repair_window: limited ? window : null });
  const complete = !limited || (window.days.length > 0 && /^\d\d:\d\d$/.test(window.starts_at) && window.minutes > 0);
  const take = () => {
    if (!conflict) return;
    setAuto(conflict.now.auto_repair);
    setLimited(conflict.now.repair_window !== null);
    setWindow(conflict.now.repair_window ?? window);
    settle();
  };
  return (
    <Dialog
      title={s.title}
      submit={common.save}
      ready={complete && Object.keys(patch).length > 0}
      pending={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(patch)}
      onClose={onClose}
    >
      {conflict && <ConflictAlert conflict={conflict} onTake={take} />}
      <Checkbox checked={auto} description={s.autoHelp} onChange={({ detail }) => setAuto(detail.checked)}>{s.auto}</Checkbox>
      <FormField label={s.window}>
        <RadioGroup
          value={limited ? "window" : "any"}
          onChange={({ detail }) => setLimited(detail.value === "window")}
          items={[{ value: "any", label: s.anyTime }, { value: "window", label: s.onlyIn }]}
        />
      </FormField>
      {limited && <WindowFields window={window} onChange={(part) => setWindow({ ...window, ...part })} />}
    </Dialog>
  );
}

function WindowFields({ window, onChange }: { window: Window; onChange: (part: Partial<Window>) => void }) {
  const s = useRepairStrings();
  return (
    <SpaceBetween size="m">
      <FormField label={s.days}>
        <DayChoice days={window.days} onChange={(days) => onChange({ days })} />
      </FormField>
      <ColumnLayout columns={2}>
        <FormField label={s.from}>
          <TimeInput value={window.starts_at} format="hh:mm" placeholder="hh:mm" onChange={({ detail }) => onChange({ starts_at: detail.value })} />
        </FormField>
        <Field at="/repair_window/minutes" label={s.minutes} constraintText={s.minutesHelp}>
          <Input value={String(window.minutes || "")} type="number" inputMode="numeric" onChange={({ detail }) => onChange({ minutes: Number(detail.value) })} />
        </Field>
      </ColumnLayout>
      <Field at="/repair_window/time_zone" label={s.zone}>
        <ZoneSelect zone={window.time_zone} onChange={(time_zone) => onChange({ time_zone })} />
      </Field>
    </SpaceBetween>
  );
}
