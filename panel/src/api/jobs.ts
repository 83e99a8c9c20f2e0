import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Job = Schemas["Job"];
/** What a program wrote at one of its starts. */
export type Output = { attempt: number; text: string };
/** The end of a job's output; `cut`: what came before it is left out. */
export type Log = { outputs: Output[]; next: number; cut: boolean; complete: boolean };

const RUNNING_MS = 2_000;
const SHOWN_CHARACTERS = 256 * 1024;

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

/** A job's output: each reading goes on where the one before it ended. */
export const jobLog = (project: string, cluster: string, job: string) => {
  const queryKey = key(project, "job log", cluster, job);
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }) => {
      let log = client.getQueryData<Log>(queryKey) ?? { outputs: [], next: 0, cut: false, complete: false };
      while (!log.complete) {
        const params = { path: { project, cluster, job }, query: { after: log.next } };
        const found = await body(api.GET("/v1/projects/{project}/clusters/{cluster}/jobs/{job}/log", { signal, params }));
        log = appended(log, found);
        if (found.items.length === 0) break;
      }
      return log;
    },
    refetchInterval: ({ state }) => (state.data?.complete ? false : RUNNING_MS),
  });
};

/** The log with what follows; of a long one the beginning is dropped. */
export function appended(log: Log, found: Schemas["JobLog"]): Log {
  const outputs = log.outputs.map((each) => ({ ...each }));
  for (const { attempt, text } of found.items) {
    const last = outputs.at(-1);
    if (last?.attempt === attempt) last.text += text;
    else outputs.push({ attempt, text });
  }
  let cut = log.cut;
  for (let over = outputs.reduce((sum, each) => sum + each.text.length, 0) - SHOWN_CHARACTERS; over > 0; ) {
    const [first] = outputs;
    if (!first) break;
    cut = true;
    if (first.text.length > over) {
      first.text = first.text.slice(over);
      break;
    }
    over -= first.text.length;
    outputs.shift();
  }
  return { outputs, next: found.next, cut, complete: found.complete };
}

export const createJob = (project: string, cluster: string, wanted: Schemas["JobCreate"]) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/jobs", { params: { path: { project, cluster } }, body: wanted }));

export const stopJob = (project: string, cluster: string, job: number) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/jobs/{job}:stop", { params: { path: { project, cluster, job: String(job) } } }));
