import { useQuery } from "@tanstack/react-query";
import { images } from "../api/queries";
import { snapshotPage } from "../api/snapshots";
import { useProject } from "../app/Project";
import { useStrings } from "../i18n";

export type System = { value: string; label: string; description: string };

const MOST = 200;

/** What servers in a region can be written with: images of the catalogue, and the project's snapshots of servers, if it has some there. */
export function useSystems(region: string) {
  const s = useStrings().cluster;
  const sold = useQuery(images(region));
  const own = useQuery(snapshotPage(useProject(), { state: ["available"], order: "-created_at", limit: MOST })).data?.items ?? [];
  const offered: System[] = (sold.data?.items ?? []).map((each) => ({
    value: each.name, label: each.name, description: `${each.os} ${each.os_version}, Poplar SDK ${each.sdk_version}`,
  }));
  const named = new Set(offered.map((each) => each.value));
  const copies: System[] = own.filter((each) => each.cluster && each.region === region).map((each) => ({
    value: named.has(each.name) ? each.id : each.name, // the catalogue's image has precedence
    label: each.name,
    description: s.copyOf(each.cluster_name ?? "", each.image ?? ""),
  }));
  return {
    all: [...offered, ...copies],
    options: copies.length ? [{ label: s.images, options: offered }, { label: s.ownImages, options: copies }] : offered,
    isPending: sold.isPending,
    error: sold.error,
  };
}
