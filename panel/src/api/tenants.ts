import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import type { QuotaQuery } from "./queries";

/** What operators see and set of their customers: projects, who pays for them, their quotas, and the price book. */

export type Account = Schemas["BillingAccount"];
export type BookedPrice = Schemas["BookedPrice"];
type PriceQuery = { sku?: string; region?: string; account?: string; contract?: boolean; state?: Schemas["PriceState"]; order: Schemas["PriceOrder"]; limit: number; cursor?: string };

const PER_REQUEST = 1_000;
const WATCHED_MS = 10_000;

type Part<Item> = { items: Item[]; next_cursor: string | null };

/** All pages of a list. */
async function all<Item>(read: (cursor: string | undefined) => Promise<Part<Item>>): Promise<Item[]> {
  const found: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await read(cursor);
    found.push(...page.items);
    if (!page.next_cursor) return found;
    cursor = page.next_cursor;
  }
}

export const projectPage = (query: { q?: string; order: Schemas["NamedOrder"]; limit: number; cursor?: string }) =>
  queryOptions({
    queryKey: ["operator", "projects", query],
    queryFn: ({ signal }) => body(api.GET("/v1/projects", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    refetchInterval: WATCHED_MS,
  });

export const oneProject = (project: string) =>
  queryOptions({
    queryKey: ["operator", "project", project],
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}", { signal, params: { path: { project } } })),
  });

export const payerOf = (project: string) =>
  queryOptions({
    queryKey: ["operator", "payer", project],
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/billing/account", { signal, params: { path: { project } } })),
    refetchInterval: WATCHED_MS,
  });

export const allAccounts = queryOptions({
  queryKey: ["operator", "accounts"],
  queryFn: ({ signal }) => all((cursor) => body(api.GET("/v1/billing/accounts", { signal, params: { query: { limit: PER_REQUEST, cursor } } }))),
});

export const assignPayer = (project: string, account_id: string) =>
  body(api.PUT("/v1/projects/{project}/billing/account", { params: { path: { project } }, body: { account_id } }));

/** A project's quotas that match, with the version that a change of them needs: without a query all. */
export const quotasOf = (project: string, query: QuotaQuery = {}) =>
  queryOptions({
    queryKey: ["operator", "quotas", project, query],
    queryFn: async ({ signal }) => {
      const { data, response } = await api.GET("/v1/projects/{project}/quotas", { signal, params: { path: { project }, query } });
      return { items: data?.items ?? [], next_cursor: null, version: response.headers.get("ETag") ?? "" };
    },
    placeholderData: keepPreviousData,
    refetchInterval: WATCHED_MS,
  });

/** Sets a limit, and leaves the project's others as they were seen. */
export function setLimit(project: string, seen: { items: Schemas["Quota"][]; version: string }, wanted: Schemas["QuotaLimit"]) {
  const others = seen.items.filter((each) => each.region !== wanted.region || each.machine_type !== wanted.machine_type);
  const items = [...others.map(({ region, machine_type, limit }) => ({ region, machine_type, limit })), wanted];
  return body(api.PUT("/v1/projects/{project}/quotas", { params: { path: { project }, header: { "If-Match": seen.version } }, body: { items } }));
}

/** Past, present and future versions of list and contract prices that match, with the time (Unix, in ms) at which they were read. */
export const priceBook = (query: PriceQuery) =>
  queryOptions({
    queryKey: ["operator", "prices", query],
    queryFn: async ({ signal }) => ({ ...(await body(api.GET("/v1/billing/prices", { signal, params: { query } }))), readAt: Date.now() }),
    placeholderData: keepPreviousData,
    refetchInterval: WATCHED_MS,
  });

/** Present and future list prices. Every SKU of the price book has some: a list price never ends without another one. */
export const listPrices = queryOptions({
  queryKey: ["operator", "list prices"],
  queryFn: ({ signal }) => body(api.GET("/v1/prices", { signal })),
});

export const addPrice = (price: Schemas["PriceAddition"]) => body(api.POST("/v1/billing/prices", { body: { items: [price] } }));

export const withdrawPrice = (price: string) => api.DELETE("/v1/billing/prices/{price}", { params: { path: { price } } });
