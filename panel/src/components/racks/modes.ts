import type { Hardware, HardwareMachine } from "../../api/operator";

/** What the colours of a heat map say, with the values of each in the order of its legend. */
export const MODES = {
  health: ["ok", "degraded", "failed", "unknown", "silent"],
  use: ["free", "allocated", "cleaning", "validating", "maintenance", "unhealthy", "silent"],
  fragmentation: ["block_8", "block_4", "block_2", "block_1", "taken", "out"],
  maintenance: ["in_service", "draining", "maintenance", "validating", "kept_away"],
} as const;

const BLOCKS = [["block_8", 8], ["block_4", 4], ["block_2", 2]] as const;

export type Mode = keyof typeof MODES;
export type Value = (typeof MODES)[Mode][number];

/** What a mode says of each of these machines; fragmentation needs all of a POD. */
export function valuesOf(mode: Mode, machines: HardwareMachine[]): (machine: HardwareMachine) => Value {
  if (mode !== "fragmentation") return (machine) => valueOf(mode, machine);
  const at = (machine: HardwareMachine, slot: number) => `${machine.pod} ${slot}`;
  const free = new Set(machines.filter((each) => each.state === "free" && each.allocatable).map((each) => at(each, each.slot)));
  return (machine) => {
    if (!free.has(at(machine, machine.slot))) return ["allocated", "cleaning"].includes(machine.state) ? "taken" : "out";
    const whole = (size: number) => {
      const first = machine.slot - (machine.slot % size); // a block of the allocator begins at a multiple of its size
      return Array.from({ length: size }, (_, index) => first + index).every((slot) => free.has(at(machine, slot)));
    };
    return BLOCKS.find(([, size]) => whole(size))?.[0] ?? "block_1";
  };
}

export function valueOf(mode: Exclude<Mode, "fragmentation">, machine: Hardware): Value {
  if (mode === "health") return machine.health as Value;
  if (mode === "use") return machine.state as Value;
  if (machine.maintenance) return machine.holder?.cluster ? "draining" : "maintenance";
  if (machine.state === "validating") return "validating";
  return machine.allocatable ? "in_service" : "kept_away";
}
