const nouns: Record<string, string> = {
  account: "Account", address: "Address", audit: "Audit", budget: "Budget", cluster: "Cluster", credit_note: "Credit note", fault_report: "Fault report", invitation: "Invitation", invoice: "Invoice",
  job: "Job", maintenance: "Maintenance", member: "Member", operation: "Operation", payment: "Payment", partition: "Partition", project: "Project", quota: "Quota", quota_request: "Quota request", reservation: "Reservation", service: "Service", snapshot: "Snapshot", ssh_authority: "SSH authority", ssh_certificate: "SSH certificate", ssh_key: "SSH key", terminal: "Terminal", token: "Token", volume: "Volume",
  webhook: "Webhook", export: "Export", export_schedule: "Export schedule", s3_connection: "S3 connection", credit: "Credit",
};
const verbs: Record<string, string> = {
  account_changed: "is paid by another account", active: "is active", announced: "announced", attached: "is attached", available: "is available", detached: "is detached", cancelled: "cancelled", cancelling: "is being cancelled",
  charges_corrected: "has corrected charges", closed: "closed", confirmed: "confirmed", created: "created", creating: "is being created",
  degraded: "is degraded", delete_forced: "is deleted by the operator", deleted: "deleted", deleting: "is being deleted", disabled: "disabled",
  export_limit_updated: "has another limit of exports",
  declined: "declined", dismissed: "dismissed", error: "has an error", expiring: "expires within an hour", failed: "failed", forecast_reached: "threshold reached by the forecast",
  funds_exhausted: "has no funds left", funds_low: "is low on funds", funds_restored: "has funds again", hardware_isolated: "is cleaned up without failed hardware",
  granted: "granted", idle_suspended: "is suspended because nobody uses it", preempted: "is preempted", preemption_scheduled: "will be preempted", preemption_withdrawn: "will not be preempted after all", hardware_replaced: "gets other hardware", issued: "issued", missing: "disappeared from the controller", opened: "opened", overdue: "is overdue", queued: "queued",
  ended: "ended", rebuilding: "is being rebuilt", recovered: "works again", received: "received", refunded: "refunded", removed: "removed", removing: "is being removed", repair_ended: "repair ended",
  repair_scheduled: "repair scheduled", repair_started: "repair started", repair_waiting: "repair has to wait", repaired: "repaired",
  restarted: "restarted", resetting: "is being reset", resized: "has another size", resizing: "is being resized", restricted: "is restricted", restriction_lifted: "is no longer restricted", resuming: "is being resumed", retried: "is started again", reversal_found: "was taken back by the payment provider", reversal_withdrawn: "came back from the payment provider", reversed: "was taken out of the wallet", revoked: "revoked",
  schedule_missed: "missed a time of its schedule", schedule_started: "follows its schedule", schedule_waiting: "schedule has to wait",
  rotated: "replaced", secret_rotated: "has a new secret", servers_rebuilt: "has servers that were rebuilt", started: "started", stopped: "stopped", succeeded: "succeeded", suspend_forced: "is suspended for lack of money", suspended: "suspended",
  suspending: "is being suspended", threshold_reached: "threshold reached", top_up_paused: "top-ups paused", top_up_requested: "top-up requested",
  top_up_resumed: "top-ups resumed", topped_up: "topped up", unknown: "is in an unknown state", updated: "changed",
  invited: "invited", joined: "joined", role_changed: "has another role", sources_changed: "has other allowed sources", withdrawn: "withdrawn",
};

export const events = {
  nouns, verbs,
  title: "Events",
  description: "What happened in the project, newest first.",
  noun: "About",
  all: "Everything",
  about: "About",
  actor: "By",
  details: "Details",
  emptyText: "Whatever happens in the project is listed here: clusters, keys, budgets, invoices.",
  accountText: "What happens to the account's money is listed here: invoices, payments, budgets, funds.",
};
