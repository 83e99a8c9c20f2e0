import Checkbox from "@cloudscape-design/components/checkbox";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import RadioGroup from "@cloudscape-design/components/radio-group";
import { useState } from "react";
import type { Cluster } from "../../../api/queries";
import { useFlash } from "../../../app/Flashes";
import { Dialog } from "../../../components/Dialog";
import { Field } from "../../../components/Field";
import { MomentInput } from "../../../components/MomentInput";
import { patchOf, useClusterEdit } from "../../../components/useClusterEdit";
import { hereZone, useStrings } from "../../../i18n";
import { useScheduleStrings } from "../../../i18n/schedules";
import { ConflictAlert } from "../ConflictAlert";
import { CalendarFields, isComplete, type Calendar } from "./CalendarFields";

const IDLE_MINUTES = 60;

const suggested = (): Calendar => ({
  time_zone: hereZone(), periods: [{ days: ["mon", "tue", "wed", "thu", "fri"], starts_at: "08:00", ends_at: "20:00" }], holidays: [],
});

/** What a person enters, from what the cluster has. */
function entered(cluster: Cluster) {
  const { schedule } = cluster;
  return {
    scheduled: schedule !== null,
    calendar: schedule ? { time_zone: schedule.time_zone, periods: schedule.periods, holidays: schedule.holidays } : suggested(),
    idle: cluster.idle_suspend_minutes !== null,
    minutes: String(cluster.idle_suspend_minutes ?? IDLE_MINUTES),
    expires: cluster.expires_at !== null,
    at: cluster.expires_at ?? "",
  };
}

/** When a cluster is in use, and when it ends by itself; each can be taken away. */
export function EditSchedule({ cluster, onClose }: { cluster: Cluster; onClose: () => void }) {
  const { common, cluster: names } = useStrings();
  const s = useScheduleStrings();
  const flash = useFlash();
  const [seen] = useState(cluster);
  const [now, setNow] = useState(() => entered(seen));
  const change = (part: Partial<typeof now>) => setNow((before) => ({ ...before, ...part }));
  const { save, conflict, settle } = useClusterEdit(seen, () => {
    flash({ type: "success", content: names.saved(seen.name) });
    onClose();
  });
  const patch = patchOf(seen, {
    schedule: now.scheduled ? now.calendar : null,
    idle_suspend_minutes: now.idle ? Number(now.minutes) : null,
    expires_at: now.expires ? now.at : null,
  });
  const complete = (!now.scheduled || isComplete(now.calendar)) && (!now.idle || /^[1-9]\d*$/.test(now.minutes)) && (!now.expires || now.at !== "");
  const take = () => {
    if (conflict) setNow(entered(conflict.now));
    settle();
  };
  return (
    <Dialog
      large
      title={s.editTitle(seen.name)}
      submit={common.save}
      ready={complete && Object.keys(patch).length > 0}
      pending={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate(patch)}
      onClose={onClose}
    >
      {conflict && <ConflictAlert conflict={conflict} onTake={take} />}
      <FormField label={s.inUse} description={s.inUseHelp}>
        <RadioGroup
          value={now.scheduled ? "schedule" : "always"}
          onChange={({ detail }) => change({ scheduled: detail.value === "schedule" })}
          items={[{ value: "always", label: s.always }, { value: "schedule", label: s.bySchedule }]}
        />
      </FormField>
      {now.scheduled && <CalendarFields calendar={now.calendar} onChange={(part) => change({ calendar: { ...now.calendar, ...part } })} />}
      <Checkbox checked={now.idle} description={s.idleHelp} onChange={({ detail }) => change({ idle: detail.checked })}>{names.idleStop}</Checkbox>
      {now.idle && (
        <Field at="/idle_suspend_minutes" label={s.idleMinutes} constraintText={s.idleRange}>
          <Input value={now.minutes} type="number" inputMode="numeric" onChange={({ detail }) => change({ minutes: detail.value })} />
        </Field>
      )}
      <Checkbox checked={now.expires} description={s.expiryHelp} onChange={({ detail }) => change({ expires: detail.checked })}>{s.expiry}</Checkbox>
      {now.expires && (
        <Field at="/expires_at" label={s.expiresAt}>
          <MomentInput key={conflict ? "theirs" : "own"} value={now.at} onChange={(at) => change({ at })} label={s.expiresAt} />
        </Field>
      )}
    </Dialog>
  );
}
