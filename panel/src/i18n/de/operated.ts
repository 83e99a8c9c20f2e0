import { pages } from "./shell";
import type { operated as en } from "../en/operated";

export const operated: typeof en = {
  title: pages.platformEvents,
  description: "Was Betreiber, Worker und Hardware taten, das Neueste zuerst: Reparaturen, Wartung, Sperren, Entscheidungen über Kontingente und Preise, abgeschlossene Monate.",
  emptyText: "Hier steht, was mit der Plattform geschieht.",
  find: "Ereignisse filtern",
  event: "Ereignis",
  verbs: {
    repaired: "repariert", halted: "angehalten", resumed: "fortgesetzt", late: "ist verspätet", sealed: "abgeschlossen", ended: "beendet", started: "begonnen", drained: "geleert",
    maintained: "gewartet", quarantined: "unter Quarantäne", returned_to_service: "wieder in Betrieb", agrees: "stimmt überein", differs: "weicht ab",
    missing: "fehlt", supplied: "nachgereicht", accepted: "angenommen", finished: "beendet",
  },
  nouns: {
    audit: "Prüfung", automation: "Automatische Reparaturen", billing_month: "Abrechnungsmonat", freeze: "Sperre", hardware: "Hardware", inventory: "Inventar", price: "Preis",
    price_correction: "Preiskorrektur", machine: "Maschine", host: "Host", region: "Region",
  },
  faultsText: "Störungen, die Kunden melden, die älteste zuerst. Nichts ändert sich, bevor eine bestätigt ist.",
  noFaults: "Keine Störungsmeldungen",
  noFaultsText: "Hier melden Kunden, was nicht funktioniert, obwohl keine Störung angezeigt wird.",
  hardware: "Hardware",
  released: "nicht mehr zugeteilt",
  confirm: "Bestätigen",
  dismiss: "Zurückweisen",
  confirmText: "Ein Zustandsbericht entsteht: Der Cluster ist beeinträchtigt, seine Minuten werden von jetzt an gutgeschrieben, und er wird repariert.",
  dismissText: "Der Kunde erfährt, dass nichts gefunden wurde, und warum. Sonst ändert sich nichts.",
  answer: "Antwort",
  answerHelp: "Der Kunde liest sie.",
  fault: "Was gefunden wurde",
  codes: { bmc_critical: "Die Maschine ist ausgefallen", link_down: "Eine Verbindung der Maschine ist gestört", host_failed: "Der Host ist ausgefallen" },
  answered: (name) => `Die Meldung zu ${name} wurde beantwortet.`,
  act: (what, name) => `${what}: ${name}`,
};
