import type { Messages } from "../en";

export const terminal: Messages["terminal"] = {
  title: (cluster, number) => `Terminal von ${cluster}, Server ${number}`,
  description: "Der Dienst meldet sich mit einem Schlüssel an, den er für dieses Terminal erzeugt. Mit F6 verlassen Sie es per Tastatur.",
  label: "Terminal",
  open: "Terminal öffnen",
  anew: "Neu öffnen",
  again: "Wieder öffnen",
  connecting: "Anmeldung läuft",
  connected: "Verbunden",
  refused: "Das Terminal ließ sich nicht öffnen. Der Server muss laufen, und Sie brauchen das Recht, Cluster zu ändern.",
  lost: "Die Verbindung ist abgebrochen.",
  endings: {
    shell: "Die Shell ist beendet.", idle: "Geschlossen, weil eine Weile niemand etwas eingegeben hat.",
    time_limit: "Geschlossen: Es war so lange offen, wie ein Terminal sein darf.", access: "Ihr Zugang zu diesem Projekt ist beendet.",
    service: "Der Dienst hat das Terminal geschlossen. Öffnen Sie es wieder.",
  },
};
