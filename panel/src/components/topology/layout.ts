import type { Schemas } from "../../api/client";

export type TopologyData = Schemas["Topology"];

export const UNIT = { width: 250, height: 40, gap: 10 };
const PAD = 14;
const HEAD = 28;
const SIDE = 30; // for the cable that closes a torus
const RACK_GAP = 70;
export const RACK_WIDTH = UNIT.width + 2 * PAD + SIDE;

/** Where everything is drawn: a rack is a column with its lowest slot at the bottom. */
export function layout(data: TopologyData) {
  const racks = data.racks.map((rack, index) => ({ ...rack, x: 0.5 + index * (RACK_WIDTH + RACK_GAP) }));
  const lowest = new Map(racks.map((rack) => [rack.name, Math.min(...slotsOf(data, rack.name))]));
  const levels = data.machines.map((machine) => machine.slot - (lowest.get(machine.rack) ?? 0));
  const tallest = Math.max(0, ...levels) + 1;
  const height = HEAD + PAD + tallest * (UNIT.height + UNIT.gap);
  const at = new Map(data.machines.map((machine, index) => {
    const rack = racks.find((each) => each.name === machine.rack);
    const level = levels[index] ?? 0;
    return [machine.name, { x: (rack?.x ?? 0) + PAD, y: HEAD + (tallest - 1 - level) * (UNIT.height + UNIT.gap) }] as const;
  }));
  return { racks, at, height, width: Math.max(1, racks.length) * (RACK_WIDTH + RACK_GAP) - RACK_GAP + 1 };
}

const slotsOf = (data: TopologyData, rack: string) => data.machines.filter((machine) => machine.rack === rack).map((machine) => machine.slot);

type Point = { x: number; y: number };

/** The path of a link between two machines: two rails between neighbours, a cable at the side back to the other end of a
 *  torus, a line from rack to rack. */
export function linkPath(one: Point, other: Point): string {
  const [low, high] = one.y > other.y ? [one, other] : [other, one];
  if (one.x !== other.x) {
    const [left, right] = one.x < other.x ? [one, other] : [other, one];
    return `M${left.x + UNIT.width} ${left.y + UNIT.height / 2} L${right.x} ${right.y + UNIT.height / 2}`;
  }
  if (low.y - high.y <= UNIT.height + UNIT.gap + 1) {
    return [50, 110].map((inset) => `M${low.x + UNIT.width - inset} ${low.y} V${high.y + UNIT.height}`).join(" ");
  }
  const side = low.x + UNIT.width + 14;
  return `M${low.x + UNIT.width} ${low.y + UNIT.height / 2} H${side} V${high.y + UNIT.height / 2} H${high.x + UNIT.width}`;
}
