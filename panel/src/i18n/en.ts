import { audit } from "./en/audit";
import { billing } from "./en/billing";
import { cluster } from "./en/cluster";
import { clusters } from "./en/clusters";
import { create, keys } from "./en/create";
import { events } from "./en/events";
import { home } from "./en/home";
import { jobs } from "./en/jobs";
import { members } from "./en/members";
import { budgets, funds } from "./en/money";
import { operated } from "./en/operated";
import { operator } from "./en/operator";
import { quotas } from "./en/quotas";
import { repairs } from "./en/repairs";
import { common, device, notifications, shell, signIn, states } from "./en/shell";
import { terminal } from "./en/terminal";
import { tokens } from "./en/tokens";
import { trouble } from "./en/trouble";
import { usage } from "./en/usage";
import { webhooks } from "./en/webhooks";

export const en = {
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
export type Messages = typeof en;
