import { audit } from "./en/audit";
import { billing } from "./en/billing";
import { cluster } from "./en/cluster";
import { clusters } from "./en/clusters";
import { create, keys } from "./en/create";
import { events } from "./en/events";
import { home } from "./en/home";
import { members } from "./en/members";
import { quotas } from "./en/quotas";
import { common, device, notifications, pages, shell, signIn, states } from "./en/shell";
import { terminal } from "./en/terminal";
import { usage } from "./en/usage";

export const en = {
  audit,
  billing,
  cluster,
  clusters,
  common,
  create,
  device,
  events,
  home,
  keys,
  members,
  notifications,
  pages,
  quotas,
  shell,
  signIn,
  states,
  terminal,
  usage,
};
export type Messages = typeof en;
