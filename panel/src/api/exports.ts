import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { keyOf, watched, type BillingScope } from "./billing";
import { api, body, ofSession, type Schemas } from "./client";

export type Export = Schemas["Export"];

const BUILDING_MS = 2_000;
type ScheduleQuery = { every?: "hour" | "day" | "month"; dataset?: Schemas["Dataset"]; order?: Schemas["Order"] };
type ExportQuery = { state?: Schemas["OperationState"][]; dataset?: Schemas["Dataset"]; order: Schemas["Order"]; limit: number; cursor?: string };

const DONE = ["succeeded", "failed", "cancelled"];

/** Exports; read again while one is being made. */
export const exports = (scope: BillingScope, query: ExportQuery) =>
  queryOptions({
    queryKey: keyOf(scope, "exports", query),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/billing/exports", { signal, params: { path: scope, query } })
      : api.GET("/v1/billing/accounts/{account}/exports", { signal, params: { path: scope, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some((each) => !DONE.includes(each.state)) ? BUILDING_MS : watched(scope).refetchInterval),
  });

/** How many exports may be requested within 24 hours, and how many were. */
export const exportLimit = (scope: BillingScope) =>
  queryOptions({
    queryKey: keyOf(scope, "export limit"),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/billing/export-limit", { signal, params: { path: scope } })
      : api.GET("/v1/billing/accounts/{account}/export-limit", { signal, params: { path: scope } })),
    ...watched(scope),
  });

export const schedules = (scope: BillingScope, query: ScheduleQuery = {}) =>
  queryOptions({
    queryKey: keyOf(scope, "export schedules", query),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/billing/export-schedules", { signal, params: { path: scope, query } })
      : api.GET("/v1/billing/accounts/{account}/export-schedules", { signal, params: { path: scope, query } })),
    placeholderData: keepPreviousData,
    ...watched(scope),
  });

/** Buckets that match: without a query all, oldest first. */
export const connections = (scope: BillingScope, query: { q?: string; order?: Schemas["NamedOrder"] } = {}) =>
  queryOptions({
    queryKey: keyOf(scope, "s3 connections", query),
    queryFn: ({ signal }) => body("project" in scope
      ? api.GET("/v1/projects/{project}/s3-connections", { signal, params: { path: scope, query } })
      : api.GET("/v1/billing/accounts/{account}/s3-connections", { signal, params: { path: scope, query } })),
    placeholderData: keepPreviousData,
    ...watched(scope),
  });

export const fileOf = (scope: BillingScope, id: string) => ofSession("project" in scope
  ? `/v1/projects/${encodeURIComponent(scope.project)}/billing/exports/${id}/file`
  : `/v1/billing/accounts/${scope.account}/exports/${id}/file`);

export const createExport = (scope: BillingScope, wanted: Schemas["AccountExportCreate"]): Promise<unknown> => ("project" in scope
  ? api.POST("/v1/projects/{project}/billing/exports", { params: { path: scope }, body: { ...wanted, scope: "project" } })
  : api.POST("/v1/billing/accounts/{account}/exports", { params: { path: scope }, body: wanted }));

export const createSchedule = (scope: BillingScope, wanted: Schemas["ExportScheduleCreate"]) => body("project" in scope
  ? api.POST("/v1/projects/{project}/billing/export-schedules", { params: { path: scope }, body: wanted })
  : api.POST("/v1/billing/accounts/{account}/export-schedules", { params: { path: scope }, body: wanted }));

export const deleteSchedule = (scope: BillingScope, schedule: string): Promise<unknown> => "project" in scope
  ? api.DELETE("/v1/projects/{project}/billing/export-schedules/{schedule}", { params: { path: { ...scope, schedule } } })
  : api.DELETE("/v1/billing/accounts/{account}/export-schedules/{schedule}", { params: { path: { ...scope, schedule } } });

/** `attachable`: whether a project's clusters may use it. An account has no clusters. */
export const createConnection = (scope: BillingScope, wanted: Schemas["AccountS3ConnectionCreate"], attachable: boolean) => body("project" in scope
  ? api.POST("/v1/projects/{project}/s3-connections", { params: { path: scope }, body: { ...wanted, attachable } })
  : api.POST("/v1/billing/accounts/{account}/s3-connections", { params: { path: scope }, body: wanted }));

export const testConnection = (scope: BillingScope, connection: string) => body("project" in scope
  ? api.POST("/v1/projects/{project}/s3-connections/{connection}:test", { params: { path: { ...scope, connection } } })
  : api.POST("/v1/billing/accounts/{account}/s3-connections/{connection}:test", { params: { path: { ...scope, connection } } }));

export const offerConnection = (project: string, connection: string, attachable: boolean) =>
  body(api.PATCH("/v1/projects/{project}/s3-connections/{connection}", { params: { path: { project, connection } }, body: { attachable } }));

export const deleteConnection = (scope: BillingScope, connection: string): Promise<unknown> => "project" in scope
  ? api.DELETE("/v1/projects/{project}/s3-connections/{connection}", { params: { path: { ...scope, connection } } })
  : api.DELETE("/v1/billing/accounts/{account}/s3-connections/{connection}", { params: { path: { ...scope, connection } } });
