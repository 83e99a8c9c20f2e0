import { billing } from "./en/billing";
import { cluster } from "./en/cluster";
import { clusters } from "./en/clusters";
import { create, keys } from "./en/create";
import { events } from "./en/events";
import { home } from "./en/home";
import { operator } from "./en/operator";
import { partitions } from "./en/partitions";
import { quotas } from "./en/quotas";
import { repairs } from "./en/repairs";
import { common, shell, signIn, states } from "./en/shell";

export const en = { common, shell, signIn, states, clusters, cluster, billing, events, create, keys, home, operator, partitions, quotas, repairs };
export type Messages = typeof en;
