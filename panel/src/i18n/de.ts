import { billing } from "./de/billing";
import { cluster } from "./de/cluster";
import { clusters } from "./de/clusters";
import { create, keys } from "./de/create";
import { events } from "./de/events";
import { home } from "./de/home";
import { budgets, exports, funds } from "./de/money";
import { operated } from "./de/operated";
import { operator } from "./de/operator";
import { partitions } from "./de/partitions";
import { quotas } from "./de/quotas";
import { repairs } from "./de/repairs";
import { common, shell, signIn, states } from "./de/shell";
import { tokens } from "./de/tokens";
import { trouble } from "./de/trouble";
import { webhooks } from "./de/webhooks";
import type { Messages } from "./en";

export const de: Messages = { common, shell, signIn, states, clusters, cluster, billing, budgets, funds, exports, events, create, keys, home, operated, operator, partitions, quotas, repairs, tokens, trouble, webhooks };
