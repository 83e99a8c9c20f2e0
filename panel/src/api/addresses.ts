import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Address = Schemas["Address"];
export type AddressListed = { state?: Schemas["AddressState"][] | undefined; order: Schemas["Order"]; limit: number; cursor?: string | undefined };

/** The SKU of an address. Where it has no price, addresses are not offered. */
export const ADDRESS_SKU = "address";

const WORKING = new Set<Schemas["AddressState"]>(["creating", "attaching", "detaching", "deleting"]);
const WORKING_MS = 2_000;

export const addressPage = (project: string, query: AddressListed) =>
  queryOptions({
    queryKey: key(project, "addresses", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/addresses", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some((each) => WORKING.has(each.state)) ? WORKING_MS : false),
  });

const at = (project: string, address: string) => ({ params: { path: { project, address } } });

export const createAddress = (project: string, wanted: Schemas["AddressCreate"]) =>
  body(api.POST("/v1/projects/{project}/addresses", { params: { path: { project } }, body: wanted }));

export const limitAddress = (project: string, id: string, sources: string[]) =>
  body(api.PATCH("/v1/projects/{project}/addresses/{address}", { ...at(project, id), body: { allowed_sources: sources } }));

export const attachAddress = (project: string, id: string, cluster: string) =>
  body(api.POST("/v1/projects/{project}/addresses/{address}:attach", { ...at(project, id), body: { cluster } }));

export const detachAddress = (project: string, id: string) => body(api.POST("/v1/projects/{project}/addresses/{address}:detach", at(project, id)));

export const deleteAddress = (project: string, id: string) => body(api.DELETE("/v1/projects/{project}/addresses/{address}", at(project, id)));
