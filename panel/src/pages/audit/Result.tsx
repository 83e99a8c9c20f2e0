import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { AuditEntry } from "../../api/audit";
import { useStrings } from "../../i18n";

/** What came of a request: its status and the problem's code, or that nobody knows. */
export function Result({ entry }: { entry: AuditEntry }) {
  const s = useStrings().audit;
  if (entry.state === "abandoned") return <StatusIndicator type="warning">{s.abandoned}</StatusIndicator>;
  if (entry.status === null) return <StatusIndicator type="in-progress">{s.open}</StatusIndicator>;
  const done = entry.status < 400;
  return <StatusIndicator type={done ? "success" : "error"}>{`${entry.status}${entry.code ? ` ${entry.code}` : ""}`}</StatusIndicator>;
}
