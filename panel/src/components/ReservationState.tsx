import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Schemas } from "../api/client";
import { useReservationStrings } from "../i18n/reservations";

const KIND = { scheduled: "pending", active: "success", ended: "stopped", cancelled: "stopped" } as const;

export function ReservationState({ state }: { state: Schemas["ReservationState"] }) {
  return <StatusIndicator type={KIND[state]}>{useReservationStrings().states[state]}</StatusIndicator>;
}
