import type { Messages } from "./en";
import { audit } from "./de/audit";
import { billing } from "./de/billing";
import { cluster } from "./de/cluster";
import { clusters } from "./de/clusters";
import { create, keys } from "./de/create";
import { events } from "./de/events";
import { home } from "./de/home";
import { members } from "./de/members";
import { quotas } from "./de/quotas";
import { common, device, notifications, pages, shell, signIn, states } from "./de/shell";
import { terminal } from "./de/terminal";
import { usage } from "./de/usage";

export const de: Messages = {
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
