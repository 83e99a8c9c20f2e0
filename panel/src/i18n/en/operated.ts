import { pages } from "./shell";

/** What operators read of faults and events, and answer. */
export const operated = {
  title: pages.platformEvents,
  description: "What operators, workers and hardware did, newest first: repairs, maintenance, freezes, quota and price decisions, sealed months.",
  emptyText: "What happens to the platform is listed here.",
  find: "Filter events",
  event: "Event",
  verbs: {
    repaired: "repaired", halted: "halted", resumed: "resumed", late: "is late", sealed: "sealed", ended: "ended", started: "started", drained: "drained",
    maintained: "maintained", quarantined: "quarantined", returned_to_service: "returned to service", agrees: "agrees", differs: "differs",
    missing: "missing", supplied: "supplied", accepted: "accepted", finished: "finished",
  } as Record<string, string>,
  nouns: {
    audit: "Audit", automation: "Automatic repairs", billing_month: "Billing month", freeze: "Freeze", hardware: "Hardware", inventory: "Inventory", price: "Price",
    price_correction: "Price correction", machine: "Machine", host: "Host", region: "Region",
  } as Record<string, string>,
  faultsText: "Faults that customers report, oldest first. Nothing changes before one is confirmed.",
  noFaults: "No fault reports",
  noFaultsText: "Customers report here what does not work although no fault is shown.",
  hardware: "Hardware",
  released: "no longer held",
  confirm: "Confirm",
  dismiss: "Dismiss",
  confirmText: "A health report is made: the cluster is degraded, its minutes are credited from now on, and it is repaired.",
  dismissText: "The customer is told that nothing was found, and why. Nothing else changes.",
  answer: "Answer",
  answerHelp: "The customer reads it.",
  fault: "What was found",
  codes: { bmc_critical: "The machine has failed", link_down: "A link of the machine is down", host_failed: "The host has failed" } as Record<string, string>,
  answered: (name: string) => `The report of ${name} was answered.`,
  act: (what: string, name: string) => `${what}: ${name}`,
};
