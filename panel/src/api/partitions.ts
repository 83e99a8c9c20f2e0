import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, body, type Schemas } from "./client";
import { key } from "./queries";

export type Partition = Schemas["PartitionPage"]["items"][number];
export type PartitionListed = { state?: Schemas["PartitionState"][]; order: Schemas["Order"]; limit: number; cursor?: string };

const CHANGING_MS = 2_000;
const CHANGING = ["creating", "resetting", "removing"];

export const partitionPage = (project: string, cluster: string, query: PartitionListed) =>
  queryOptions({
    queryKey: key(project, "partition page", cluster, query),
    queryFn: ({ signal }) =>
      body(api.GET("/v1/projects/{project}/clusters/{cluster}/partitions", { signal, params: { path: { project, cluster }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some((each) => CHANGING.includes(each.state)) ? CHANGING_MS : false),
  });

export const createPartition = (project: string, cluster: string, wanted: Schemas["PartitionCreate"]) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/partitions", { params: { path: { project, cluster } }, body: wanted }));

export const resetPartition = (project: string, cluster: string, partition: string, relocatable: boolean) =>
  body(api.POST("/v1/projects/{project}/clusters/{cluster}/partitions/{partition}:reset", {
    params: { path: { project, cluster, partition } }, body: { relocatable },
  }));

export const removePartition = (project: string, cluster: string, partition: string) =>
  body(api.DELETE("/v1/projects/{project}/clusters/{cluster}/partitions/{partition}", { params: { path: { project, cluster, partition } } }));
