import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { followed } from "./log";
import { key } from "./queries";

export type Job = Schemas["Job"];

const RUNNING_MS = 2_000;

export const ended = (job: Job) => ["succeeded", "failed", "stopped"].includes(job.state);

export const jobPage = (project: string, cluster: string, query: { state?: Schemas["JobState"][]; order: Schemas["Order"]; limit: number; cursor?: string }) =>
  queryOptions({
    queryKey: key(project, "jobs", cluster, query),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/clusters/{cluster}/jobs", { signal, params: { path: { project, cluster }, query } })),
    placeholderData: keepPreviousData,
  });

/** A job; its cost and observation have no events, and are read every other second while it has not ended. */
export const jobQuery = (project: string, cluster: string, job: string) =>
  queryOptions({
    queryKey: key(project, "job", cluster, job),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/clusters/{cluster}/jobs/{job}", { signal, params: { path: { project, cluster, job } } })),
    refetchInterval: ({ state }) => (state.data && !ended(state.data) ? RUNNING_MS : false),
  });

/** What a job's program writes. */
export const jobLog = (project: string, cluster: string, job: string) =>
  followed(key(project, "job log", cluster, job), (after, signal) =>
    body(api.GET("/v1/projects/{project}/clusters/{cluster}/jobs/{job}/log", { signal, params: { path: { project, cluster, job }, query: { after } } })));

export const createJob = (project: string, cluster: string, wanted: Schemas["JobCreate"]) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/jobs", { params: { path: { project, cluster } }, body: wanted }));

export const stopJob = (project: string, cluster: string, job: number) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/jobs/{job}:stop", { params: { path: { project, cluster, job: String(job) } } }));
