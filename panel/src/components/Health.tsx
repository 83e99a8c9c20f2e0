import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Schemas } from "../api/client";
import { useStrings } from "../i18n";

const KIND = { ok: "success", unknown: "pending", silent: "stopped", degraded: "warning", failed: "error" } as const;

export function Health({ health }: { health: Schemas["Machine" | "HardwareMachine"]["health"] }) {
  return <StatusIndicator type={KIND[health]}>{useStrings().cluster.health[health]}</StatusIndicator>;
}
