import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { ApiError, api, body, type Schemas } from "./client";

export type ClusterSummary = Schemas["ClusterSummary"];
export type Cluster = Schemas["Cluster"];
export type Operation = Schemas["Operation"];
export type ClusterFilter = { state?: Schemas["ClusterState"][]; region?: string; flavor?: string; q?: string; [tag: `tag.${string}`]: string };

const WORKING_MS = 2_000;

/** Keys of everything that belongs to a project begin so: an event of the project has it read again (live.ts). */
export const key = (project: string, ...rest: unknown[]) => ["project", project, ...rest];

/** Progress has no events: what is under way is read every other second. */
const whileWorking = (working: boolean | undefined) => (working ? WORKING_MS : false);

export const clusterPage = (project: string, query: ClusterFilter & { cursor?: string; order: Schemas["NamedOrder"]; limit: number }) =>
  queryOptions({
    queryKey: key(project, "clusters", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/clusters", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => whileWorking(state.data?.items.some((each) => each.operation && !each.operation.done)),
    enabled: project !== "",
  });

export const cluster = (project: string, id: string) =>
  queryOptions({
    queryKey: key(project, "cluster", id),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/clusters/{cluster}", { signal, params: { path: { project, cluster: id } } })),
    refetchInterval: ({ state }) => whileWorking(state.data?.operation ? !state.data.operation.done : false),
  });

export const clusterOperations = (project: string, id: string) =>
  queryOptions({
    queryKey: key(project, "operations", id),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/operations", { signal, params: { path: { project }, query: { cluster: id, limit: 20 } } })),
  });

/** It stops after its present step, and what it did is undone. */
export const cancelOperation = (project: string, id: string) =>
  body(api.POST("/v1/projects/{project}/operations/{operation}:cancel", { params: { path: { project, operation: id }, header: { "Idempotency-Key": "" } } }));

export const operation = (project: string, id: string) =>
  queryOptions({
    queryKey: key(project, "operation", id),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/operations/{operation}", { signal, params: { path: { project, operation: id } } })),
    refetchInterval: ({ state }) => whileWorking(state.data && !state.data.done),
  });

export const clusterUsage = (project: string, id: string) =>
  queryOptions({
    queryKey: key(project, "usage", id),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/clusters/{cluster}/usage", { signal, params: { path: { project, cluster: id } } })),
  });

const DAY_MS = 86_400_000;

/** How busy a cluster was in the last 24 hours, in steps of so many seconds. */
export const clusterMetrics = (project: string, id: string, step: number) =>
  queryOptions({
    queryKey: key(project, "metrics", id, step),
    queryFn: ({ signal }) => {
      const since = new Date(Date.now() - DAY_MS).toISOString();
      return body(api.GET("/v1/projects/{project}/clusters/{cluster}/metrics", { signal, params: { path: { project, cluster: id }, query: { since, step } } }));
    },
    refetchInterval: 60_000,
  });

export const topology = (project: string, id: string, working: boolean) =>
  queryOptions({
    queryKey: key(project, "topology", id),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/clusters/{cluster}/topology", { signal, params: { path: { project, cluster: id } } })),
    refetchInterval: whileWorking(working),
  });

export const vipu = (project: string, id: string) =>
  queryOptions({
    queryKey: key(project, "vipu", id),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/clusters/{cluster}/vipu", { signal, params: { path: { project, cluster: id } } })),
  });

export const eventPage = (project: string, query: { subject?: string; order?: Schemas["Order"]; cursor?: string; limit: number; type?: Schemas["Event"]["type"][] }) =>
  queryOptions({
    queryKey: key(project, "events", query),
    queryFn: ({ signal }) => {
      const type = query.type as never; // the API lists each type that may be asked for; Event has it as text
      return body(api.GET("/v1/projects/{project}/events", { signal, params: { path: { project }, query: { ...query, type } } }));
    },
    placeholderData: keepPreviousData,
  });

export const sshKeys = (project: string) =>
  queryOptions({
    queryKey: key(project, "ssh-keys"),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/ssh-keys", { signal, params: { path: { project }, query: { limit: 1000 } } })),
  });

export const sshKeyPage = (project: string, query: { q?: string; order: Schemas["NamedOrder"]; limit: number; cursor?: string }) =>
  queryOptions({
    queryKey: key(project, "ssh-keys", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/ssh-keys", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

/** What signs the project's SSH certificates; null before its first cluster. */
export const sshAuthority = (project: string) =>
  queryOptions({
    queryKey: key(project, "ssh-authority"),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/ssh-authority", { signal, params: { path: { project } } })).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }),
  });

export type QuotaQuery = { region?: string; machine_type?: string; order?: Schemas["QuotaOrder"] };

/** The quotas that match: without a query all. */
export const quotas = (project: string, query: QuotaQuery = {}) =>
  queryOptions({
    queryKey: key(project, "quotas", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/quotas", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

export const quotaRequests = (project: string, query: { state?: Schemas["QuotaRequestState"][]; order: Schemas["Order"]; cursor?: string; limit: number }) =>
  queryOptions({
    queryKey: key(project, "quota requests", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/quota-requests", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

const CATALOGUE_MS = 600_000;

export const regions = queryOptions({
  queryKey: ["regions"],
  queryFn: ({ signal }) => body(api.GET("/v1/regions", { signal })),
  staleTime: CATALOGUE_MS,
});

export const flavors = (region?: string) =>
  queryOptions({
    queryKey: ["flavors", region],
    queryFn: ({ signal }) => body(api.GET("/v1/flavors", { signal, params: { query: { region } } })),
    staleTime: CATALOGUE_MS,
  });

export const images = (region: string | undefined) =>
  queryOptions({
    queryKey: ["images", region],
    queryFn: ({ signal }) => body(api.GET("/v1/images", { signal, params: { query: { region } } })),
    staleTime: CATALOGUE_MS,
    enabled: region !== "",
  });

export const capacity = (region: string) =>
  queryOptions({
    queryKey: ["capacity", region],
    queryFn: ({ signal }) => body(api.GET("/v1/regions/{region}/capacity", { signal, params: { path: { region } } })),
    enabled: region !== "",
  });

/** What a resize would do. Nothing is reserved. Events do not have it asked for again: each estimate is in the audit log. */
export const resizeEstimate = (project: string, cluster: string, flavor = "") =>
  queryOptions({
    queryKey: ["resize estimate", project, cluster, flavor],
    queryFn: ({ signal }) =>
      body(api.POST("/v1/projects/{project}/clusters/{cluster}:estimate-resize", { signal, params: { path: { project, cluster } }, body: { flavor } })),
    enabled: flavor !== "",
  });

/** What a cluster would cost, and whether it fits now. Nothing is reserved. Asked for as a resize is. */
export const estimate = (project: string, request: Schemas["ClusterCreate"]) =>
  queryOptions({
    queryKey: ["estimate", project, request],
    queryFn: ({ signal }) => body(api.POST("/v1/projects/{project}/clusters:estimate", { signal, params: { path: { project } }, body: request })),
  });
