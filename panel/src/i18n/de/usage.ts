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
  load: "Auslastung der letzten 24 Stunden",
  loadText: "Auslastung und Leistung der IPUs, wie am Standort beobachtet. Wo nichts beobachtet wurde, ist keine Linie.",
  utilisation: "Auslastung der IPUs",
  power: "Leistung der IPUs",
  watts: (number) => `${number} W`,
  notObserved: "Es wurde nichts beobachtet",
  slices: "Nutzungszeiten",
  newest: (count) => `Die neuesten ${count}.`,
  from: "Von",
  to: "Bis",
  none: "Noch nicht genutzt",
  noneText: "Hier stehen die Zeiten, in denen der Cluster aktiv ist, mit ihren Kosten.",
};
