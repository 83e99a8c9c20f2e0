import type { Messages } from "../en";

export const usage: Messages["usage"] = {
  title: "Nutzung",
  until: (when) => `Bis ${when}.`,
  minutes: "Minuten",
  credited: "Wegen Störungen nicht berechnet",
  cost: "Kosten",
  perDay: { hours: "Nutzung pro Tag", cost: "Kosten pro Tag" },
  days: (count) => `Die letzten ${count} Tage in UTC, nach Flavor.`,
  hours: (number) => `${number} Stunden`,
  slices: "Nutzungszeiten",
  newest: (count) => `Die neuesten ${count}.`,
  from: "Von",
  to: "Bis",
  none: "Noch nicht genutzt",
  noneText: "Hier stehen die Zeiten, in denen der Cluster aktiv ist, mit ihren Kosten.",
};
