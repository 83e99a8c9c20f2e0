import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Snapshot = Schemas["Snapshot"];
export type SnapshotListed = { state?: Schemas["SnapshotState"][] | undefined; order: Schemas["Order"]; limit: number; cursor?: string | undefined };

/** The SKU of a GiB of a snapshot. Where it has no price, snapshots are not offered. */
export const SNAPSHOT_SKU = "snapshot-gib";

const WORKING = new Set<Schemas["SnapshotState"]>(["creating", "deleting"]);
const WORKING_MS = 2_000;

export const snapshotPage = (project: string, query: SnapshotListed) =>
  queryOptions({
    queryKey: key(project, "snapshots", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/snapshots", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some((each) => WORKING.has(each.state)) ? WORKING_MS : false),
  });

const at = (project: string, snapshot: string) => ({ params: { path: { project, snapshot } } });

export const takeSnapshot = (project: string, wanted: Schemas["SnapshotCreate"]) =>
  body(api.POST("/v1/projects/{project}/snapshots", { params: { path: { project } }, body: wanted }));

export const renameSnapshot = (project: string, id: string, name: string) =>
  body(api.PATCH("/v1/projects/{project}/snapshots/{snapshot}", { ...at(project, id), body: { name } }));

export const deleteSnapshot = (project: string, id: string) => body(api.DELETE("/v1/projects/{project}/snapshots/{snapshot}", at(project, id)));
