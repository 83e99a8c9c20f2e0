import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { ended, type Service } from "../api/services";
import { useServiceStrings } from "../i18n/services";

const KIND = { starting: "pending", running: "success", failed: "error", stopped: "stopped" } as const;

/** A service's state, also that it is being stopped. */
export function ServiceState({ service }: { service: Service }) {
  const s = useServiceStrings();
  const stopping = !ended(service) && service.stop_requested_at !== null;
  return <StatusIndicator type={stopping ? "in-progress" : KIND[service.state]}>{stopping ? s.stopping : s.states[service.state]}</StatusIndicator>;
}
