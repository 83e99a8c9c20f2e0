import Box from "@cloudscape-design/components/box";
import type { Cluster } from "../../api/queries";
import { useFormat, useStrings } from "../../i18n";

/** What a schedule does next, and what is in its way. */
export function ScheduleNext({ schedule }: { schedule: NonNullable<Cluster["schedule"]> }) {
  const { cluster: s } = useStrings();
  const f = useFormat();
  const { next_action: action, next_at: at, due } = schedule;
  return (
    <>
      {action && at ? `${s.scheduled[action]} ${f.moment(at)}` : s.never}
      {due?.waits_for && <Box variant="small" display="block">{`${s.scheduleWaits[due.action]} ${due.detail ?? ""}`}</Box>}
    </>
  );
}
