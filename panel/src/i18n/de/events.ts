import type { Messages } from "../en";

const nouns = {
  account: "Konto", address: "Adresse", audit: "Prüfung", budget: "Budget", cluster: "Cluster", credit_note: "Gutschrift", fault_report: "Störungsmeldung", invitation: "Einladung", invoice: "Rechnung",
  job: "Job", maintenance: "Wartung", member: "Mitglied", operation: "Vorgang", payment: "Zahlung", partition: "Partition", project: "Projekt", quota: "Kontingent", quota_request: "Antrag auf Kontingent", reservation: "Reservierung", service: "Dienst", snapshot: "Snapshot", ssh_authority: "SSH-Zertifizierungsstelle", ssh_certificate: "SSH-Zertifikat", ssh_key: "SSH-Schlüssel", terminal: "Terminal", token: "Token", volume: "Datenträger",
  webhook: "Webhook", export: "Export", export_schedule: "Exportplan", s3_connection: "S3-Verbindung", credit: "Guthaben",
};
const verbs = {
  account_changed: "wird von einem anderen Konto bezahlt", active: "ist aktiv", ended: "beendet", announced: "angekündigt", attached: "ist angeschlossen", available: "ist verfügbar", detached: "ist abgetrennt", cancelled: "abgebrochen",
  cancelling: "wird abgebrochen", charges_corrected: "hat berichtigte Kosten", closed: "geschlossen", confirmed: "bestätigt", created: "erstellt",
  creating: "wird erstellt", degraded: "ist beeinträchtigt", delete_forced: "wird vom Betreiber gelöscht", deleted: "gelöscht", deleting: "wird gelöscht",
  disabled: "abgeschaltet", declined: "abgelehnt", dismissed: "zurückgewiesen", error: "hat einen Fehler", expiring: "läuft binnen einer Stunde ab", failed: "fehlgeschlagen", forecast_reached: "Schwelle von der Prognose erreicht",
  funds_exhausted: "ist leer", funds_low: "ist fast leer", funds_restored: "hat wieder Guthaben", hardware_isolated: "wird ohne ausgefallene Hardware aufgeräumt",
  granted: "gewährt", idle_suspended: "wird angehalten, weil ihn niemand benutzt", preempted: "wird verdrängt", preemption_scheduled: "wird bald verdrängt", preemption_withdrawn: "wird doch nicht verdrängt", hardware_replaced: "bekommt andere Hardware", issued: "ausgestellt", missing: "ist vom Controller verschwunden", opened: "eröffnet", overdue: "ist überfällig", queued: "eingereiht",
  rebuilding: "wird neu aufgebaut", recovered: "funktioniert wieder", received: "eingegangen", refunded: "erstattet", removed: "entfernt", removing: "wird entfernt", repair_ended: "Reparatur beendet",
  repair_scheduled: "Reparatur geplant", repair_started: "Reparatur begonnen", repair_waiting: "Reparatur muss warten", repaired: "repariert",
  restarted: "neu gestartet", resetting: "wird zurückgesetzt", resized: "hat eine andere Größe", resizing: "ändert seine Größe", restricted: "ist eingeschränkt", restriction_lifted: "ist nicht mehr eingeschränkt", resuming: "wird fortgesetzt", retried: "wird neu gestartet",
  schedule_missed: "hat einen Zeitpunkt seines Zeitplans verpasst", schedule_started: "folgt seinem Zeitplan", schedule_waiting: "Zeitplan muss warten",
  reversal_found: "vom Zahlungsdienst zurückgeholt", reversal_withdrawn: "vom Zahlungsdienst zurückgekommen", reversed: "aus dem Guthaben genommen", revoked: "widerrufen", rotated: "ersetzt", secret_rotated: "hat ein neues Geheimnis", servers_rebuilt: "hat neu beschriebene Server", started: "gestartet", stopped: "beendet", succeeded: "gelungen", suspend_forced: "wird aus Geldmangel angehalten",
  suspended: "angehalten", suspending: "wird angehalten", threshold_reached: "Schwelle erreicht", top_up_paused: "Aufladungen ausgesetzt", export_limit_updated: "hat ein anderes Limit für Exporte",
  top_up_requested: "Aufladung angefordert", top_up_resumed: "Aufladungen fortgesetzt", topped_up: "aufgeladen", unknown: "ist in unbekanntem Zustand",
  updated: "geändert", withdrawn: "zurückgezogen", invited: "eingeladen", joined: "beigetreten", role_changed: "hat eine andere Rolle", sources_changed: "hat andere erlaubte Netze",
};

export const events: Messages["events"] = {
  nouns, verbs,
  title: "Ereignisse",
  description: "Was im Projekt geschah, das Neueste zuerst.",
  noun: "Worüber",
  all: "Alles",
  about: "Betrifft",
  actor: "Von",
  details: "Einzelheiten",
  emptyText: "Hier steht, was im Projekt geschieht: Cluster, Schlüssel, Budgets, Rechnungen.",
  accountText: "Hier steht, was mit dem Geld des Kontos geschieht: Rechnungen, Zahlungen, Budgets, Guthaben.",
};
