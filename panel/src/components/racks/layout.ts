import type { HardwareMachine } from "../../api/operator";

/** A pod is a column of a rack, with its machines by slot: the lowest is at the bottom. */
export type Column = { pod: string; machines: HardwareMachine[] };
export type Rack = { name: string; columns: Column[]; first: number };
export type Place = { column: number; slot: number };

const byName = new Intl.Collator("en", { numeric: true }).compare;

function grouped(machines: HardwareMachine[], by: (machine: HardwareMachine) => string): Map<string, HardwareMachine[]> {
  const groups = new Map<string, HardwareMachine[]>();
  for (const each of machines) {
    const group = groups.get(by(each));
    if (group) group.push(each);
    else groups.set(by(each), [each]);
  }
  return groups;
}

/** The racks of a region; `first` is the number of a rack's first column among those of all racks. */
export function racksOf(machines: HardwareMachine[]): Rack[] {
  const racks = [...grouped(machines, (each) => each.rack)].sort(([one], [other]) => byName(one, other));
  let first = 0;
  return racks.map(([name, own]) => {
    const pods = [...grouped(own, (each) => each.pod)].sort(([one], [other]) => byName(one, other));
    const columns = pods.map(([pod, all]) => ({ pod, machines: all.sort((one, other) => one.slot - other.slot) }));
    const rack = { name, columns, first };
    first += columns.length;
    return rack;
  });
}

/** Where an arrow key leads: up and down a column, or to the nearest slot of the column beside it; undefined for other keys. */
export function neighbour(columns: Column[], from: Place, key: string): Place | undefined {
  const here = columns[from.column]?.machines ?? [];
  const index = here.findIndex((each) => each.slot === from.slot);
  if (key === "ArrowUp" || key === "ArrowDown") {
    const next = here[index + (key === "ArrowUp" ? 1 : -1)];
    return next ? { column: from.column, slot: next.slot } : from;
  }
  if (key !== "ArrowLeft" && key !== "ArrowRight") return undefined;
  const column = from.column + (key === "ArrowRight" ? 1 : -1);
  const beside = columns[column]?.machines ?? [];
  const nearest = beside.toSorted((one, other) => Math.abs(one.slot - from.slot) - Math.abs(other.slot - from.slot))[0];
  return nearest ? { column, slot: nearest.slot } : from;
}
