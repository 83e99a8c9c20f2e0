import { useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useStrings } from "../../i18n";
import { layout, linkPath, RACK_WIDTH, UNIT, type TopologyData } from "./layout";
import { colourOf, usePartitionNames } from "./partitions";
import "./topology.css";

/** `selected` is a machine; `partition` the id of one at the controller, whose machines are selected and whose IPUs stand out. */
type Props = { data: TopologyData; selected?: string; partition?: string; onSelect: (machine: string) => void };

/** The racks of a cluster with their machines, IPUs and links. One stop for Tab; arrows move between machines. */
export function Topology({ data, selected, partition, onSelect }: Props) {
  const s = useStrings().cluster;
  const root = useRef<SVGSVGElement>(null);
  const [focus, setFocus] = useState(0);
  const plan = useMemo(() => layout(data), [data]);
  const ipus = data.machines.reduce((sum, machine) => sum + machine.ipus.length, 0);
  const down = data.links.filter((link) => link.state === "down" || link.state === "degraded").length;
  const move = (event: KeyboardEvent, index: number) => {
    const step = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") onSelect(data.machines[index]?.name ?? "");
    else if (step === undefined) return;
    else {
      const next = Math.min(data.machines.length - 1, Math.max(0, index + step));
      setFocus(next);
      root.current?.querySelector<SVGGElement>(`[data-machine="${next}"]`)?.focus();
    }
    event.preventDefault();
  };
  return (
    <div className="topology-scroll">
      <svg ref={root} className="topology" viewBox={`0 0 ${plan.width} ${plan.height}`} width={plan.width} height={plan.height} role="group"
        aria-label={s.topologyLabel(data.machines.length, ipus, down)}>
        {plan.racks.map((rack) => (
          <g key={rack.name} aria-hidden="true">
            <rect className="topology-rack" x={rack.x} y={0.5} width={RACK_WIDTH} height={plan.height - 1} rx={8} />
            <text className="topology-rack-name" x={rack.x + 14} y={19}>{s.rack(rack.name)}</text>
          </g>
        ))}
        <g aria-hidden="true">
          {data.links.map((link) => {
            const [one, other] = link.ends.map((end) => plan.at.get(end));
            if (!one || !other) return null;
            return <path key={link.kind + link.ends.join()} className={`topology-link is-${link.kind} is-${link.state}`} d={linkPath(one, other)} />;
          })}
        </g>
        {data.machines.map((machine, index) => (
          <Machine key={machine.name} data={data} index={index} at={plan.at.get(machine.name) ?? { x: 0, y: 0 }} selected={partition ? machine.ipus.some((ipu) => ipu.partition === partition) : selected === machine.name}
            stop={index === focus} onKeyDown={(event) => move(event, index)}
            onClick={() => { setFocus(index); onSelect(machine.name); }} />
        ))}
        <g aria-hidden="true" className="topology-ipus">
          {data.machines.map((machine, index) => (
            <Ipus key={machine.name} data={data} index={index} at={plan.at.get(machine.name) ?? { x: 0, y: 0 }} partition={partition} />
          ))}
        </g>
      </svg>
    </div>
  );
}

type MachineProps = {
  data: TopologyData; index: number; at: { x: number; y: number }; selected: boolean; stop: boolean;
  onClick: () => void; onKeyDown: (event: KeyboardEvent) => void;
};

function Machine({ data, index, at, selected, stop, onClick, onKeyDown }: MachineProps) {
  const s = useStrings().cluster;
  const names = usePartitionNames(data);
  const machine = data.machines[index];
  if (!machine) return null;
  const owners = [...new Set(machine.ipus.map((ipu) => names(ipu.partition)))].join(", ");
  return (
    <g data-machine={index} className={`topology-machine is-${machine.health}${selected ? " is-selected" : ""}`} transform={`translate(${at.x} ${at.y})`}
      role="button" tabIndex={stop ? 0 : -1} aria-pressed={selected} onClick={onClick} onKeyDown={onKeyDown}
      aria-label={s.machineLabel(machine.name, machine.rack, machine.slot, s.health[machine.health], owners)}>
      <rect className="topology-unit" width={UNIT.width} height={UNIT.height} rx={4} />
      <circle className="topology-led" cx={13} cy={UNIT.height / 2} r={4} />
      <text className="topology-name" x={26} y={24} aria-hidden="true">{machine.name}</text>
    </g>
  );
}

/** Apart from its machine: the numbers are no part of the button's name. */
function Ipus({ data, index, at, partition }: Pick<MachineProps, "data" | "index" | "at"> & { partition?: string }) {
  return data.machines[index]?.ipus.map((ipu, k, all) => (
    <g key={ipu.ipu} transform={`translate(${at.x + UNIT.width - 134 + (k % 2) * 64} ${at.y + (k < 2 ? 21 : 4)})`}
      className={`topology-ipu ${colourOf(data, ipu.partition)}${partition && ipu.partition !== partition ? " is-other" : ""}`}>
      <rect width={58} height={15} rx={3} />
      <text x={29} y={11.5}>{index * all.length + ipu.ipu}</text>
    </g>
  ));
}
