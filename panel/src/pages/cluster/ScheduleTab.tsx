import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import { useState } from "react";
import type { Cluster } from "../../api/queries";
import { useMay } from "../../app/Project";
import { later } from "../../components/later";
import { useFormat, useStrings } from "../../i18n";
import { useRepairStrings } from "../../i18n/repairs";
import { useScheduleStrings } from "../../i18n/schedules";
import { ScheduleNext } from "./ScheduleNext";

const EditSchedule = later(async () => (await import("./schedule/EditSchedule")).EditSchedule, null);

/** When the cluster is suspended, resumed and deleted without a request. */
export function ScheduleTab({ cluster }: { cluster: Cluster }) {
  const { common, cluster: names } = useStrings();
  const repairs = useRepairStrings();
  const s = useScheduleStrings();
  const f = useFormat();
  const may = useMay("cluster:write") && !["deleting", "deleted"].includes(cluster.state);
  const [editing, setEditing] = useState(false);
  const { schedule, idle } = cluster;
  return (
    <>
      <Container header={<Header variant="h2" description={s.text} actions={may && <Button onClick={() => setEditing(true)}>{common.edit}</Button>}>{s.title}</Header>}>
        <KeyValuePairs
          columns={3}
          items={[
            {
              label: s.inUse,
              value: schedule ? (
                <>
                  {schedule.periods.map((each) => (
                    <div key={each.starts_at + each.days.join()}>{s.period(f.list(each.days.map((day) => repairs.weekdays[day])), each.starts_at, each.ends_at)}</div>
                  ))}
                  <Box variant="small" display="block">{schedule.time_zone}</Box>
                </>
              ) : s.always,
            },
            ...(schedule ? [
              { label: s.holidays, value: schedule.holidays.length ? f.list(schedule.holidays.map(f.day)) : common.none },
              { label: s.next, value: <ScheduleNext schedule={schedule} /> },
            ] : []),
            {
              label: names.idleStop,
              value: cluster.idle_suspend_minutes ? (
                <>
                  {names.afterMinutes(cluster.idle_suspend_minutes)}
                  {idle && <Box variant="small" display="block">{idle.since ? s.idleSince(f.moment(idle.since)) : s.notIdle}</Box>}
                </>
              ) : names.never,
            },
            { label: names.expires, value: cluster.expires_at ? f.moment(cluster.expires_at) : names.never },
          ]}
        />
      </Container>
      {editing && <EditSchedule cluster={cluster} onClose={() => setEditing(false)} />}
    </>
  );
}
