import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Volume = Schemas["Volume"];
export type VolumeListed = { state?: Schemas["VolumeState"][] | undefined; order: Schemas["Order"]; limit: number; cursor?: string | undefined };

/** The SKU of a GiB of a volume. Where it has no price, volumes are not offered. */
export const VOLUME_SKU = "volume-gib";

const WORKING = new Set<Schemas["VolumeState"]>(["creating", "attaching", "detaching", "resizing", "deleting"]);
const WORKING_MS = 2_000;

export const volumePage = (project: string, query: VolumeListed) =>
  queryOptions({
    queryKey: key(project, "volumes", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/volumes", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some((each) => WORKING.has(each.state)) ? WORKING_MS : false),
  });

const at = (project: string, volume: string) => ({ params: { path: { project, volume } } });

export const createVolume = (project: string, wanted: Schemas["VolumeCreate"]) =>
  body(api.POST("/v1/projects/{project}/volumes", { params: { path: { project } }, body: wanted }));

export const attachVolume = (project: string, id: string, cluster: string) =>
  body(api.POST("/v1/projects/{project}/volumes/{volume}:attach", { ...at(project, id), body: { cluster } }));

export const detachVolume = (project: string, id: string) => body(api.POST("/v1/projects/{project}/volumes/{volume}:detach", at(project, id)));

export const resizeVolume = (project: string, id: string, size_gib: number) =>
  body(api.POST("/v1/projects/{project}/volumes/{volume}:resize", { ...at(project, id), body: { size_gib } }));

export const deleteVolume = (project: string, id: string) => body(api.DELETE("/v1/projects/{project}/volumes/{volume}", at(project, id)));
