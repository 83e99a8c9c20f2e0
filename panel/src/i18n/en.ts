import { cluster } from "./en/cluster";
import { clusters } from "./en/clusters";
import { events } from "./en/events";
import { common, shell, signIn, states } from "./en/shell";

export const en = { common, shell, signIn, states, clusters, cluster, events };
export type Messages = typeof en;
