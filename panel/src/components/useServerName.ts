import type { Cluster } from "../api/queries";
import { useStrings } from "../i18n";

/** What people call a Poplar server of a cluster: by its number, as the command line does; one that is gone by its name. */
export function useServerName(cluster: Cluster | undefined): (name: string) => string {
  const s = useStrings().cluster;
  return (name) => {
    const index = cluster?.poplar_servers.findIndex((each) => each.name === name) ?? -1;
    return index < 0 ? name : `${s.server} ${index + 1}`;
  };
}
