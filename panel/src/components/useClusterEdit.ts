import { useState } from "react";
import { ApiError } from "../api/client";
import { patchCluster, readCluster, type ClusterPatch } from "../api/cluster";
import type { Cluster } from "../api/queries";
import { useProject } from "../app/Project";
import { useChange } from "./useChange";

type Field = keyof ClusterPatch;
export type Conflict = { now: Cluster; fields: Field[] };

const TRIES = 4;
/** A field as a request writes it: of a schedule, what it does next is left out. */
function written(cluster: Cluster, field: Field): ClusterPatch[Field] {
  if (field !== "schedule" || !cluster.schedule) return cluster[field];
  const { time_zone, periods, holidays } = cluster.schedule;
  return { time_zone, periods, holidays };
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What a person changed of a cluster: only fields that differ from what they saw. */
export function patchOf(seen: Cluster, entered: ClusterPatch): ClusterPatch {
  return Object.fromEntries(Object.entries(entered).filter(([name, value]) => !same(value, written(seen, name as Field))));
}

/** Saves what a person entered about the cluster that they saw, `seen`. If somebody else changed the same fields meanwhile,
 *  nothing is saved and `conflict` says what they are now; saving again is then meant. Other changes are in nobody's way. */
export function useClusterEdit(seen: Cluster, done: () => void) {
  const project = useProject();
  const [known, setKnown] = useState(seen);
  const [conflict, setConflict] = useState<Conflict>();
  const save = useChange(async (patch: ClusterPatch) => {
    for (let now = known, tries = 1; ; tries += 1) {
      try {
        await patchCluster(project, now.id, now.version, patch);
        return true;
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 412) || tries === TRIES) throw error;
      }
      now = await readCluster(project, now.id);
      const fields = (Object.keys(patch) as Field[]).filter((name) => !same(written(now, name), written(known, name)));
      if (fields.length) {
        setKnown(now);
        setConflict({ now, fields });
        return false;
      }
    }
  }, (saved) => saved && done());
  return { save, conflict, settle: () => setConflict(undefined) };
}
