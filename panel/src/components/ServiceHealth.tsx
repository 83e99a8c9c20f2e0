import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Schemas } from "../api/client";
import { useFormat } from "../i18n";
import { useServiceStrings } from "../i18n/services";

const KIND = { unknown: "pending", healthy: "success", failing: "error" } as const;

/** What the last health check of a service's program found, and when. */
export function ServiceHealth({ health }: { health: Schemas["ServiceHealth"] }) {
  const s = useServiceStrings();
  const f = useFormat();
  return (
    <>
      <StatusIndicator type={KIND[health.state]}>{s.healthStates[health.state]}</StatusIndicator>
      <Box variant="small" display="block">{health.detail ?? s.checkedBy(health.path, f.number(health.interval_seconds))}</Box>
      {health.failed > 0 && <Box variant="small" display="block">{s.checksFailed(f.number(health.failed), f.number(health.failures))}</Box>}
      {health.checked_at && <Box variant="small" display="block">{f.second(health.checked_at)}</Box>}
    </>
  );
}
