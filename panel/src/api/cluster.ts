import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type ClusterPatch = Schemas["ClusterPatch"];
export type FaultReport = Schemas["FaultReport"];

export const readCluster = (project: string, cluster: string) =>
  body(api.GET("/v1/projects/{project}/clusters/{cluster}", { params: { path: { project, cluster } } }));

/** Changes a cluster, if it still has this version. */
export const patchCluster = (project: string, cluster: string, version: number, patch: ClusterPatch) =>
  body(api.PATCH("/v1/projects/{project}/clusters/{cluster}", {
    params: { path: { project, cluster }, header: { "If-Match": `"${version}"` } }, body: patch,
  }));

export const repairNow = (project: string, cluster: string) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}:repair", { params: { path: { project, cluster } } }));

export const rescheduleRepair = (project: string, cluster: string, starts_at: string) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}:reschedule-repair", { params: { path: { project, cluster } }, body: { starts_at } }));

export const faultReportPage = (project: string, query: { cluster: string; order: Schemas["Order"]; limit: number; cursor?: string }) =>
  queryOptions({
    queryKey: key(project, "fault reports", query),
    queryFn: ({ signal }) => body(api.GET("/v1/projects/{project}/fault-reports", { signal, params: { path: { project }, query } })),
    placeholderData: keepPreviousData,
  });

export type Reported = { kind: FaultReport["kind"]; name: string };

export function reportFault(project: string, cluster: string, what: Reported, report: Schemas["FaultReportCreate"]): Promise<FaultReport> {
  if (what.kind === "machine") {
    const params = { path: { project, cluster, machine: what.name } };
    return body(api.POST("/v1/projects/{project}/clusters/{cluster}/machines/{machine}:report-fault", { params, body: report }));
  }
  const params = { path: { project, cluster, poplar_server: what.name } };
  return body(api.POST("/v1/projects/{project}/clusters/{cluster}/poplar-servers/{poplar_server}:report-fault", { params, body: report }));
}
