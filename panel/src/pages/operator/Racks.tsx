import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SegmentedControl from "@cloudscape-design/components/segmented-control";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tabs from "@cloudscape-design/components/tabs";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { regionMachines, type HardwareMachine } from "../../api/operator";
import { Empty } from "../../components/Empty";
import { Failure } from "../../components/Failure";
import { Health } from "../../components/Health";
import { later } from "../../components/later";
import { Loading } from "../../components/Loading";
import { MODES, valueOf, valuesOf, type Mode, type Value } from "../../components/racks/modes";
import { RackMap } from "../../components/racks/RackMap";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";
import { useTroubleStrings } from "../../i18n/trouble";
import { MachineTable } from "./MachineTable";
import { useSimulated } from "./trouble/useTrouble";

const TroubleMenu = later(async () => (await import("./trouble/TroubleMenu")).TroubleMenu, null);
const TroubleTab = later(async () => (await import("./trouble/TroubleTab")).TroubleTab);
const PodTable = later(async () => (await import("./PodTable")).PodTable);

/** A region's machines as a picture and as tables. */
export function Racks({ region, asOf }: { region: string; asOf?: string }) {
  const s = useOperatorStrings();
  const trouble = useTroubleStrings();
  const simulated = useSimulated(region);
  const { data, error, refetch } = useQuery(regionMachines(region));
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  if (!data.length) return <Empty title={s.noMachinesTitle} text={s.noMachinesText} />;
  return (
    <Tabs
      ariaLabel={s.machines}
      tabs={[
        { id: "racks", label: s.racks, content: <HeatMap machines={data} asOf={asOf} /> },
        { id: "machines", label: s.machines, content: <MachineTable machines={data} /> },
        { id: "pods", label: s.pods, content: <PodTable region={region} /> },
        ...(simulated ? [{ id: "trouble", label: trouble.title, content: <TroubleTab region={region} /> }] : []),
      ]}
    />
  );
}

function HeatMap({ machines, asOf }: { machines: HardwareMachine[]; asOf?: string }) {
  const s = useOperatorStrings();
  const [mode, setMode] = useState<Mode>("health");
  const [picked, setPicked] = useState<string>();
  const shown = machines.find((each) => each.name === picked);
  return (
    <Container
      header={
        <Header variant="h2" description={[s.mapHelp, asOf].filter(Boolean).join(" ")}
          actions={
            <SegmentedControl label={s.colour} selectedId={mode} onChange={({ detail }) => setMode(detail.selectedId as Mode)}
              options={(Object.keys(MODES) as Mode[]).map((id) => ({ id, text: s.modes[id] }))} />
          }>
          {s.racks}
        </Header>
      }
    >
      <SpaceBetween size="s">
        <Legend machines={machines} mode={mode} />
        <div className="rack-layout">
          <RackMap machines={machines} mode={mode} selected={picked} onSelect={setPicked} />
          <div className="rack-side" aria-live="polite">
            {shown && <Details machine={shown} />}
            {shown && <TroubleMenu region={shown.region} machine={shown.name} />}
          </div>
        </div>
      </SpaceBetween>
    </Container>
  );
}

function Legend({ machines, mode }: { machines: HardwareMachine[]; mode: Mode }) {
  const s = useOperatorStrings();
  const f = useFormat();
  const counts = new Map<Value, number>();
  const value = valuesOf(mode, machines);
  for (const each of machines) counts.set(value(each), (counts.get(value(each)) ?? 0) + 1);
  return (
    <ul className="rack-legend" aria-label={s.legend}>
      {MODES[mode].map((value) => (
        <li key={value}><span className={`mark is-${value}`} aria-hidden="true">{s.marks[value]}</span>{`${s.values[value]}: ${f.number(counts.get(value) ?? 0)}`}</li>
      ))}
    </ul>
  );
}

function Details({ machine }: { machine: HardwareMachine }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  return (
    <KeyValuePairs
      columns={1}
      items={[
        { label: s.machine, value: machine.name },
        { label: s.rack, value: `${machine.rack}, ${s.pod} ${machine.pod}, ${s.slot} ${machine.slot}` },
        { label: s.health, value: <Health health={machine.health as "ok"} /> },
        { label: s.use, value: s.values[valueOf("use", machine)] },
        { label: s.maintenance, value: s.values[valueOf("maintenance", machine)] },
        { label: s.reports, value: machine.codes.join(", ") || common.none },
        { label: s.holder, value: machine.holder ? s.heldBy(machine.holder) : common.none },
        { label: s.observed, value: machine.observed_at ? f.moment(machine.observed_at) : common.none },
      ]}
    />
  );
}
