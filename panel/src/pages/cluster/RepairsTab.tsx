import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { Cluster } from "../../api/queries";
import { useMay } from "../../app/Project";
import { useFormat, useStrings } from "../../i18n";
import { useRepairStrings } from "../../i18n/repairs";
import { FaultReports } from "./repairs/FaultReports";
import { later } from "../../components/later";

const EditRepairs = later(async () => (await import("./repairs/EditRepairs")).EditRepairs, null);
const RepairNow = later(async () => (await import("./repairs/RepairNow")).RepairNow, null);
const Reschedule = later(async () => (await import("./repairs/Reschedule")).Reschedule, null);

/** When and how the cluster gets other hardware, and the faults that were reported. */
export function RepairsTab({ cluster }: { cluster: Cluster }) {
  const { common } = useStrings();
  const s = useRepairStrings();
  const f = useFormat();
  const may = useMay("cluster:write") && !["deleting", "deleted"].includes(cluster.state);
  const [asked, setAsked] = useState<"edit" | "now" | "reschedule">();
  const { repair_window: window, scheduled_repair: scheduled } = cluster;
  const broken = cluster.faults.length > 0 && ["active", "degraded"].includes(cluster.state) && cluster.operation === null;
  const close = () => setAsked(undefined);
  const actions = (
    <SpaceBetween direction="horizontal" size="xs">
      <Button onClick={() => setAsked("edit")}>{common.edit}</Button>
      {scheduled && <Button disabled={scheduled.operation !== null} onClick={() => setAsked("reschedule")}>{s.reschedule}</Button>}
      {broken && <Button variant="primary" onClick={() => setAsked("now")}>{s.now}</Button>}
    </SpaceBetween>
  );
  return (
    <SpaceBetween size="l">
      <Container header={<Header variant="h2" description={s.text} actions={may && actions}>{s.title}</Header>}>
        <KeyValuePairs
          columns={3}
          items={[
            { label: s.auto, value: cluster.auto_repair ? s.autoOn : s.autoOff },
            {
              label: s.window,
              value: window ? s.windowText(f.list(window.days.map((day) => s.weekdays[day])), window.starts_at, f.duration(window.minutes * 60), window.time_zone) : s.anyTime,
            },
            {
              label: s.scheduled,
              value: scheduled ? (
                <>
                  <div>{s.scheduledText(f.moment(scheduled.starts_at), s.reason[scheduled.reason])}</div>
                  <div>{s.hardware(f.list(scheduled.hardware))}</div>
                  {scheduled.waits_for && <div>{s.waits[scheduled.waits_for]}</div>}
                </>
              ) : s.none,
            },
          ]}
        />
      </Container>
      <FaultReports cluster={cluster} />
      {asked === "edit" && <EditRepairs cluster={cluster} onClose={close} />}
      {asked === "now" && <RepairNow cluster={cluster} onClose={close} />}
      {asked === "reschedule" && scheduled && <Reschedule cluster={cluster.id} repair={scheduled} onClose={close} />}
    </SpaceBetween>
  );
}
