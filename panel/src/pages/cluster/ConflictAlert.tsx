import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import type { Conflict } from "../../components/useClusterEdit";
import { useFormat, useStrings } from "../../i18n";
import { useRepairStrings } from "../../i18n/repairs";

/** Says that somebody else changed the same fields, and what they are now. */
export function ConflictAlert({ conflict, onTake }: { conflict: Conflict; onTake: () => void }) {
  const { cluster: s, common, clusters, keys } = useStrings();
  const repairs = useRepairStrings();
  const f = useFormat();
  const { now } = conflict;
  const names: Record<string, string> = {
    name: common.name, tags: clusters.tags, delete_protection: s.protection, auto_repair: repairs.auto, repair_window: repairs.window,
    ssh_keys: keys.title, schedule: s.schedule, idle_suspend_minutes: s.idleStop, expires_at: s.expires, s3_connections: s.buckets,
    allowed_sources: s.sources,
  };
  const tags = Object.entries(now.tags).map(([key, value]) => `${key}=${value}`).join(", ") || common.none;
  const values: Record<string, string> = {
    name: now.name, tags, delete_protection: now.delete_protection ? common.yes : common.no, auto_repair: now.auto_repair ? common.yes : common.no,
    ssh_keys: f.list(now.ssh_keys), idle_suspend_minutes: now.idle_suspend_minutes ? s.afterMinutes(now.idle_suspend_minutes) : s.never,
    s3_connections: f.list(now.s3_connections) || common.none,
    allowed_sources: f.list(now.allowed_sources) || common.none,
    expires_at: now.expires_at ? f.moment(now.expires_at) : s.never,
  };
  const what = conflict.fields.map((field) => `${names[field] ?? field}${values[field] === undefined ? "" : `: ${values[field]}`}`);
  return (
    <Alert type="warning" header={s.conflict} action={<Button formAction="none" onClick={onTake}>{s.conflictTake}</Button>}>
      {s.conflictText(f.list(what))}
    </Alert>
  );
}
