import type { Messages } from "./en";
import { audit } from "./de/audit";
import { billing } from "./de/billing";
import { cluster } from "./de/cluster";
import { clusters } from "./de/clusters";
import { create, keys } from "./de/create";
import { events } from "./de/events";
import { home } from "./de/home";
import { jobs } from "./de/jobs";
import { members } from "./de/members";
import { budgets, funds } from "./de/money";
import { operated } from "./de/operated";
import { operator } from "./de/operator";
import { quotas } from "./de/quotas";
import { repairs } from "./de/repairs";
import { common, device, notifications, shell, signIn, states } from "./de/shell";
import { terminal } from "./de/terminal";
import { tokens } from "./de/tokens";
import { trouble } from "./de/trouble";
import { usage } from "./de/usage";
import { webhooks } from "./de/webhooks";

export const de: Messages = {
  audit,
  billing,
  budgets,
  cluster,
  clusters,
  common,
  create,
  device,
  events,
  funds,
  home,
  jobs,
  keys,
  members,
  notifications,
  operated,
  operator,
  quotas,
  repairs,
  shell,
  signIn,
  states,
  terminal,
  tokens,
  trouble,
  usage,
  webhooks,
};
