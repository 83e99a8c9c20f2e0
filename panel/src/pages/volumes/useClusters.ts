import { useQuery } from "@tanstack/react-query";
import { clusterPage } from "../../api/queries";
import { useProject } from "../../app/Project";

const MOST = 200;

/** The project's newest clusters. */
export function useClusters() {
  return useQuery(clusterPage(useProject(), { order: "-created_at", limit: MOST })).data?.items;
}
