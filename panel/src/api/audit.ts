import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";

export type AuditEntry = Schemas["AuditEntry"];
export type AuditFilter = { actor?: string; operation?: string; writes?: boolean };
type Paged = { order: Schemas["Order"]; cursor?: string; limit: number };

/** Reading the log makes an entry of its own, which is kept for ever: it is read again only when somebody asks for it. */
const once = { staleTime: Infinity, refetchOnWindowFocus: false, refetchOnReconnect: false };

/** Who asked for what in the project. Its key is not `key(project)`: events do not have it read again. */
export const auditLog = (project: string, query: AuditFilter & Paged) =>
  queryOptions({
    queryKey: ["audit log", project, query],
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/audit-log", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
    ...once,
  });

/** Who asked for what in every project, and outside of projects. */
export const platformAuditLog = (query: AuditFilter & { project?: string } & Paged) =>
  queryOptions({
    queryKey: ["audit log", "", query],
    queryFn: ({ signal }) => body(api.GET("/v1/operator/audit-log", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    ...once,
  });
