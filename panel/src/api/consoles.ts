import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Console = Schemas["Console"];

export const NEWEST = -1;
const BOOTING_MS = 2_000;
const RUNNING_MS = 10_000;

/** A Poplar server's console in one boot. A console has no events: that of the newest boot is read again every ten seconds, every
 *  other second while an operation is at work on the cluster. */
export const consoleOf = (project: string, cluster: string, server: string, boot: number, working: boolean) =>
  queryOptions({
    queryKey: key(project, "console", cluster, server, boot),
    queryFn: ({ signal }) => {
      const params = { path: { project, cluster, poplar_server: server }, query: { boot } };
      return body(api.GET("/v1/projects/{project}/clusters/{cluster}/poplar-servers/{poplar_server}/console", { signal, params }));
    },
    refetchInterval: ({ state }) => {
      if (working) return BOOTING_MS;
      if (boot === NEWEST) return RUNNING_MS; // also of one that has ended: the next boot begins without notice
      return state.data?.boots.some((each) => each.number === boot && each.ended_at === null) ? RUNNING_MS : false;
    },
    placeholderData: keepPreviousData, // the choice of a boot stays where it is
    enabled: server !== "",
  });
