import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import Table from "@cloudscape-design/components/table";
import type { Schemas } from "../../api/client";
import { useFormat, useStrings } from "../../i18n";
import { useOperatorStrings } from "../../i18n/operator";

const OTHERS = ["allocated", "cleaning", "validating", "maintenance", "unhealthy", "silent"] as const;

/** What is free of a type of machine, and which flavors fit into it. */
export function Room({ type }: { type: Schemas["TypeCapacity"] }) {
  const { common } = useStrings();
  const s = useOperatorStrings();
  const f = useFormat();
  const all = Object.values(type.states).reduce((sum, each) => sum + each, 0);
  const flavor = type.flavors[0];
  const ipus = flavor ? flavor.ipus / flavor.machines : 0;
  const others = OTHERS.filter((state) => type.states[state]).map((state) => <div key={state}>{`${s.values[state]}: ${f.number(type.states[state] ?? 0)}`}</div>);
  const returning = type.expiries.filter((each) => each.machines)
    .map((each) => <div key={each.within_seconds}>{s.returningOf(each.machines, f.duration(each.within_seconds))}</div>);
  const blocks = Object.entries(type.blocks).filter(([, count]) => count).sort(([one], [other]) => Number(other) - Number(one));
  return (
    <Container header={<Header variant="h2" description={s.roomDescription}>{s.room(type.machine_type)}</Header>}>
      <SpaceBetween size="l">
        <KeyValuePairs
          columns={4}
          items={[
            { label: s.freeMachines, value: s.ofMachines(f.number(type.states.free ?? 0), f.number(all)) },
            { label: s.otherStates, value: others.length ? others : common.none },
            { label: s.largest, value: type.largest_block ? s.block(type.largest_block, type.largest_block * ipus) : s.nothingFree },
            { label: `${s.blocks} (${s.blocksHelp})`, value: blocks.map(([size, count]) => s.blocksOf(f.number(count), size)).join(", ") || s.nothingFree },
            { label: s.fragmentation, value: type.fragmentation === null ? s.fragmentationNone : f.percent(type.fragmentation) },
            { label: s.freeHosts, value: f.number(type.free_hosts) },
            ...(returning.length ? [{ label: s.returning, value: returning }] : []),
          ]}
        />
        <Table
          variant="embedded"
          wrapLines
          header={<Header variant="h3">{s.fits}</Header>}
          ariaLabels={{ tableLabel: `${s.fits}: ${type.machine_type}` }}
          items={type.flavors}
          trackBy="flavor"
          columnDefinitions={[
            { id: "flavor", header: s.flavor, minWidth: 150, isRowHeader: true, cell: (each) => each.flavor },
            { id: "ipus", header: s.ipus, cell: (each) => f.number(each.ipus) },
            { id: "machines", header: s.machines, cell: (each) => f.number(each.machines) },
            {
              id: "available", header: s.available, minWidth: 100,
              cell: (each) => <StatusIndicator type={each.available ? "success" : "stopped"}>{each.available ? common.yes : common.no}</StatusIndicator>,
            },
            { id: "why", header: s.whyNot, minWidth: 280, cell: (each) => each.why_not?.detail ?? common.none },
          ]}
        />
      </SpaceBetween>
    </Container>
  );
}
