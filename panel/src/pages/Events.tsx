import { EventTable } from "../components/EventTable";

export function Events() {
  return <EventTable />;
}
