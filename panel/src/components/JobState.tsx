import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Job } from "../api/jobs";
import { useJobStrings } from "../i18n/jobs";

const KIND = { queued: "pending", running: "in-progress", succeeded: "success", failed: "error", stopped: "stopped" } as const;

/** A job's state, also that it is being stopped. */
export function JobState({ job }: { job: Job }) {
  const s = useJobStrings();
  const stopping = job.state === "running" && job.stop_requested_at !== null;
  return <StatusIndicator type={KIND[job.state]}>{stopping ? s.stopping : s.states[job.state]}</StatusIndicator>;
}
