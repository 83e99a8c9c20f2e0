import { memo, useCallback, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { HardwareMachine } from "../../api/operator";
import { useOperatorStrings } from "../../i18n/operator";
import { neighbour, racksOf, type Place, type Rack } from "./layout";
import { valuesOf, type Mode } from "./modes";
import "./racks.css";

const HEIGHT = 24;
const GAP = 3;
const HEAD = 42;
const AXIS = 26; // the numbers of the slots
const NAMED_COLUMNS = 6; // with more, or on a phone, a machine shows its mark only
const NAMED_WIDTH = 168;
const NARROW_WIDTH = 26;

type Props = { machines: HardwareMachine[]; mode: Mode; selected?: string; onSelect: (machine: string) => void };

/** The racks of a region. A rack has a column for each pod, the lowest slot at the bottom. One stop for Tab; arrows move. */
export function RackMap({ machines, mode, selected, onSelect }: Props) {
  const s = useOperatorStrings();
  const root = useRef<HTMLDivElement>(null);
  const racks = useMemo(() => racksOf(machines), [machines]);
  const columns = useMemo(() => racks.flatMap((rack) => rack.columns), [racks]);
  const [wanted, setWanted] = useState<Place>();
  const start = { column: 0, slot: columns[0]?.machines[0]?.slot ?? 0 };
  const stop = wanted && columns[wanted.column]?.machines.some((each) => each.slot === wanted.slot) ? wanted : start;
  const pick = useCallback((machine: HardwareMachine, place: Place) => { setWanted(place); onSelect(machine.name); }, [onSelect]);
  const press = useCallback((event: KeyboardEvent, machine: HardwareMachine, place: Place) => {
    const next = neighbour(columns, place, event.key);
    if (event.key === "Enter" || event.key === " ") pick(machine, place);
    else if (!next) return;
    else {
      setWanted(next);
      root.current?.querySelector<SVGGElement>(`[data-place="${next.column}-${next.slot}"]`)?.focus();
    }
    event.preventDefault();
  }, [columns, pick]);
  const named = columns.length <= NAMED_COLUMNS && globalThis.innerWidth > 900;
  const top = Math.max(...machines.map((each) => each.slot));
  return (
    <div ref={root} className="racks" role="group" aria-label={s.mapLabel(machines.length, racks.length, s.modes[mode])}>
      {racks.map((rack) => (
        <RackPicture key={rack.name} rack={rack} mode={mode} top={top} named={named} pick={pick} press={press}
          stop={stop.column >= rack.first && stop.column < rack.first + rack.columns.length ? `${stop.column}-${stop.slot}` : undefined}
          selected={rack.columns.some((each) => each.machines.some((machine) => machine.name === selected)) ? selected : undefined} />
      ))}
    </div>
  );
}

type RackProps = {
  rack: Rack; mode: Mode; top: number; named: boolean; stop?: string; selected?: string;
  pick: (machine: HardwareMachine, place: Place) => void; press: (event: KeyboardEvent, machine: HardwareMachine, place: Place) => void;
};

/** Only racks in which something changed are drawn again: a region has a thousand machines. */
const RackPicture = memo(function RackPicture({ rack, mode, top, named, stop, selected, pick, press }: RackProps) {
  const s = useOperatorStrings();
  const valueOf = useMemo(() => valuesOf(mode, rack.columns.flatMap((column) => column.machines)), [mode, rack]);
  const cell = named ? NAMED_WIDTH : NARROW_WIDTH;
  const width = AXIS + rack.columns.length * (cell + GAP) + 8;
  const height = HEAD + (top + 1) * (HEIGHT + GAP) + 6;
  const y = (slot: number) => HEAD + (top - slot) * (HEIGHT + GAP);
  return (
    <svg className="rack" viewBox={`0 0 ${width} ${height}`} width={width} height={height}>
      <g aria-hidden="true">
        <rect className="rack-frame" x={0.5} y={0.5} width={width - 1} height={height - 1} rx={8} />
        <text className="rack-name" x={8} y={17}>{rack.name}</text>
        {Array.from({ length: top + 1 }, (_, slot) => <text key={slot} className="rack-slot" x={AXIS - 6} y={y(slot) + 16}>{slot}</text>)}
        {rack.columns.map((column, index) => (
          <text key={column.pod} className="rack-pod" x={AXIS + index * (cell + GAP) + cell / 2} y={35}>{named ? column.pod : shortened(column.pod)}</text>
        ))}
      </g>
      {rack.columns.flatMap((column, index) => column.machines.map((machine) => {
        const place = { column: rack.first + index, slot: machine.slot };
        const value = valueOf(machine);
        const at = `${place.column}-${place.slot}`;
        return (
          <g key={machine.name} role="button" data-place={at} data-machine={machine.name} tabIndex={at === stop ? 0 : -1} aria-pressed={machine.name === selected}
            aria-label={s.machineLabel(machine.name, rack.name, column.pod, machine.slot, s.values[value])}
            className={`rack-machine is-${value}${machine.name === selected ? " is-selected" : ""}`}
            transform={`translate(${AXIS + index * (cell + GAP)} ${y(machine.slot)})`}
            onClick={() => pick(machine, place)} onKeyDown={(event) => press(event, machine, place)}>
            <rect width={cell} height={HEIGHT} rx={3} />
          </g>
        );
      }))}
      <g aria-hidden="true" className="rack-texts">
        {rack.columns.flatMap((column, index) => column.machines.map((machine) => {
          const value = valueOf(machine);
          return (
            <g key={machine.name} className={`is-${value}`} transform={`translate(${AXIS + index * (cell + GAP)} ${y(machine.slot)})`}>
              {named && <text x={8} y={16}>{machine.name.length > 17 ? `…${machine.name.slice(-16)}` : machine.name}</text>}
              <text className="rack-mark" x={named ? cell - 14 : cell / 2} y={16}>{s.marks[value]}</text>
            </g>
          );
        }))}
      </g>
    </svg>
  );
});

/** The end of a pod's name: its beginning is that of the rack. */
const shortened = (pod: string) => (pod.split("-").at(-1) ?? pod).slice(-4);
