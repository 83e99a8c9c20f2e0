import SpaceBetween from "@cloudscape-design/components/space-between";
import { ExportList } from "./exports/ExportList";
import { ConnectionList } from "./exports/ConnectionList";
import { ScheduleList } from "./exports/ScheduleList";

/** Files of the cost of a project, or of all that an account pays for: made once or regularly, downloaded or delivered to a bucket. */
export function Exports() {
  return (
    <SpaceBetween size="l">
      <ExportList />
      <ScheduleList />
      <ConnectionList />
    </SpaceBetween>
  );
}
