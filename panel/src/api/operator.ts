import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";

export type HardwareMachine = Schemas["HardwareMachine"];

/** Operators have no stream of events for hardware: what they look at is read again this often. */
const WATCHED_MS = 10_000;
const MACHINES_PER_PAGE = 500;

const watched = { refetchInterval: WATCHED_MS };

export const operatorCapacity = (region: string) =>
  queryOptions({
    queryKey: ["operator", "capacity", region],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/regions/{region}/capacity", { signal, params: { path: { region } } })),
    enabled: region !== "",
    ...watched,
  });

/** All machines of a region, page by page: a heat map needs each of them. */
export const regionMachines = (region: string) =>
  queryOptions({
    queryKey: ["operator", "machines", region],
    queryFn: async ({ signal }) => {
      const found: HardwareMachine[] = [];
      for (let cursor: string | undefined; ;) {
        const query = { region, limit: MACHINES_PER_PAGE, cursor };
        const page = await body(api.GET("/v1/operator/machines", { signal, params: { query } }));
        found.push(...page.items);
        if (!page.next_cursor) return found;
        cursor = page.next_cursor;
      }
    },
    enabled: region !== "",
    ...watched,
  });

export const podPage = (query: { region: string; cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: ["operator", "pods", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/pods", { signal, params: { query } })),
    enabled: query.region !== "",
    placeholderData: keepPreviousData,
    ...watched,
  });
