import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { followed } from "./log";
import { key } from "./queries";

export type Service = Schemas["Service"];

const OBSERVED_MS = 5_000;

export const ended = (service: Service) => ["failed", "stopped"].includes(service.state);

export const servicePage = (project: string, cluster: string, query: { state?: Schemas["ServiceState"][]; order: Schemas["Order"]; limit: number; cursor?: string }) =>
  queryOptions({
    queryKey: key(project, "services", cluster, query),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/clusters/{cluster}/services", { signal, params: { path: { project, cluster }, query } })),
    placeholderData: keepPreviousData,
  });

/** A service; that it is still seen to run has no events, and is read every five seconds while it has not ended. */
export const serviceQuery = (project: string, cluster: string, service: string) =>
  queryOptions({
    queryKey: key(project, "service", cluster, service),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/clusters/{cluster}/services/{service}", { signal, params: { path: { project, cluster, service } } })),
    refetchInterval: ({ state }) => (state.data && !ended(state.data) ? OBSERVED_MS : false),
  });

const DAY_MS = 86_400_000;

/** The requests to a service in the last 24 hours, in steps of so many seconds. */
export const serviceMetrics = (project: string, cluster: string, service: string, step: number) =>
  queryOptions({
    queryKey: key(project, "service metrics", cluster, service, step),
    queryFn: ({ signal }) => {
      const query = { since: new Date(Date.now() - DAY_MS).toISOString(), step };
      return body(api.GET("/v1/projects/{project}/clusters/{cluster}/services/{service}/metrics", { signal, params: { path: { project, cluster, service }, query } }));
    },
    refetchInterval: 60_000,
  });

/** What a service's program writes. */
export const serviceLog = (project: string, cluster: string, service: string) =>
  followed(key(project, "service log", cluster, service), (after, signal) =>
    body(api.GET("/v1/projects/{project}/clusters/{cluster}/services/{service}/log", {
      signal, params: { path: { project, cluster, service }, query: { after } },
    })));

export const stopService = (project: string, cluster: string, service: string) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/services/{service}:stop", { params: { path: { project, cluster, service } } }));

/** Replaces a service's program: the answer is the service that ends, or the next release if nothing ran. */
export const deployService = (project: string, cluster: string, service: string, release: Schemas["ServiceDeploy"]) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/services/{service}:deploy", { params: { path: { project, cluster, service } }, body: release }));

/** Deploys the release before again. */
export const rollBackService = (project: string, cluster: string, service: string) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/services/{service}:rollback", { params: { path: { project, cluster, service } } }));

/** Where the API passes requests on to a service's program. */
export const proxyAddress = (project: string, cluster: string, service: string) =>
  `${location.origin}/v1/projects/${encodeURIComponent(project)}/clusters/${encodeURIComponent(cluster)}/services/${encodeURIComponent(service)}/proxy/`;
