import type { HardwareMachine } from "../../api/operator";

/** What the colours of a heat map say, with the values of each in the order of its legend. */
export const MODES = {
  health: ["ok", "degraded", "failed", "unknown", "silent"],
  use: ["free", "allocated", "cleaning", "validating", "maintenance", "unhealthy", "silent"],
  maintenance: ["in_service", "draining", "maintenance", "validating", "kept_away"],
} as const;

export type Mode = keyof typeof MODES;
export type Value = (typeof MODES)[Mode][number];

export function valueOf(mode: Mode, machine: HardwareMachine): Value {
  if (mode === "health") return machine.health as Value;
  if (mode === "use") return machine.state as Value;
  if (machine.maintenance) return machine.holder ? "draining" : "maintenance";
  if (machine.state === "validating") return "validating";
  return machine.allocatable ? "in_service" : "kept_away";
}
