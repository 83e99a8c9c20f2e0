"""Rules about credits: machines are not billed where a health report says that they did not work, and only there."""

from __future__ import annotations

from ipucloud.invariants.rules import Invariant, Refusal

_EVIDENCE_STANDS = Refusal("Usage and its evidence are never rewritten; a wrong bill is corrected by a credit note.")
_SETTLE = Refusal("The next observation of the cluster's hardware sets the number; without one, a person must decide.")

CITES = Invariant(
    name="credit_cites_a_report",
    sentence="A usage interval has credited machines exactly if it cites a health report.",
    object_type="usage_interval",
    remedy="Find out what opened the interval without `set_credited`; correct a wrong bill with a credit note"
    " (`ipucloud credit-notes create`).",
    repair=_EVIDENCE_STANDS,
    statement="""
    SELECT u.id::text AS object_id, u.project_id,
           format('%s of %s machines are credited, and no health report is cited', u.credited, u.quantity) AS detail
      FROM usage_intervals u
     WHERE u.credited > 0 AND NOT EXISTS (SELECT FROM usage_credits c WHERE c.interval_id = u.id)
    UNION ALL
    SELECT u.id::text, u.project_id, 'a health report is cited, and no machine is credited'
      FROM (SELECT DISTINCT interval_id FROM usage_credits) AS cited JOIN usage_intervals u ON u.id = cited.interval_id
     WHERE u.credited = 0
    """,
)

REPORT_JUSTIFIES = Invariant(
    name="cited_report_justifies_the_credit",
    sentence="A credit cites confirmed reports of faults that are credited, which had not ended when it began.",
    object_type="usage_interval",
    remedy="Compare the interval with the history of the machine. The operator bears what was credited wrongly.",
    repair=_EVIDENCE_STANDS,
    statement="""
    SELECT u.id::text AS object_id, u.project_id,
           format('report %s (%s) %s', r.id, r.code,
                  CASE WHEN NOT r.credited THEN 'is of a fault that is not credited'
                       WHEN r.confirmed_at IS NULL THEN 'was never confirmed'
                       ELSE format('had ended at %s, and the credit began at %s', r.cleared_at, u.started_at) END)
           AS detail
      FROM usage_credits c
      JOIN usage_intervals u ON u.id = c.interval_id
      JOIN health_reports r ON r.id = c.report_id
     WHERE NOT r.credited OR r.confirmed_at IS NULL OR r.cleared_at < u.started_at
    """,
)

NOT_BEFORE = Invariant(
    name="credit_begins_with_its_fault",
    sentence="A credit begins no earlier than the first sight of a fault that it cites.",
    object_type="usage_interval",
    remedy="Find out what called `set_credited` with an earlier time. The operator bears what was credited wrongly.",
    repair=_EVIDENCE_STANDS,
    statement="""
    SELECT u.id::text AS object_id, u.project_id,
           format('credited since %s, first seen at %s', u.started_at, min(r.first_seen_at)) AS detail
      FROM usage_credits c
      JOIN usage_intervals u ON u.id = c.interval_id
      JOIN health_reports r ON r.id = c.report_id
     GROUP BY u.id
    HAVING u.started_at < date_trunc('second', min(r.first_seen_at))
    """,
)

ENDS = Invariant(
    name="credit_ends_with_its_fault",
    sentence="Machines are credited now only while a cited health report is live; those of a reservation at most a"
    " minute longer.",
    object_type="usage_interval",
    remedy="Find out what cleared the reports without settling the cluster.",
    repair=_SETTLE,
    statement="""
    SELECT u.id::text AS object_id, u.project_id,
           format('%s machines are credited, and every cited report is cleared', u.credited) AS detail
      FROM usage_intervals u
     WHERE u.ended_at IS NULL AND u.credited > 0
       AND EXISTS (SELECT FROM usage_credits c WHERE c.interval_id = u.id)
       -- A reservation is settled by a worker every few seconds, not by the reading that clears a report.
       AND NOT EXISTS (SELECT FROM usage_credits c JOIN health_reports r ON r.id = c.report_id
                        WHERE c.interval_id = u.id
                          AND (r.cleared_at IS NULL
                               OR u.reservation_id IS NOT NULL AND r.cleared_at > app_now() - interval '1 minute'))
    """,
)

CHARGED = Invariant(
    name="charge_leaves_out_what_is_credited",
    sentence="A charge bills the machines of its usage interval that are not credited (the last three closed hours).",
    object_type="usage_charge",
    remedy="Find out what posted the charge; make the difference good with a credit note"
    " (`ipucloud credit-notes create`).",
    repair=_EVIDENCE_STANDS,
    statement="""
    SELECT concat_ws('/', to_char(c.hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'), c.resource_id, c.first_minute, c.rev)
             AS object_id, c.project_id,
           format('bills %s machines and credits %s; in use were %s, credited %s', c.quantity, c.credited, u.quantity,
                  u.credited) AS detail
      FROM usage_charges c JOIN usage_intervals u ON u.id = c.interval_id
     WHERE c.hour IN (SELECT hour FROM hour_closes WHERE closed_at IS NOT NULL ORDER BY hour DESC LIMIT 3)
       AND (c.quantity, c.credited) <> (u.quantity - u.credited, u.credited)
    """,
)

RULES = (CITES, REPORT_JUSTIFIES, NOT_BEFORE, ENDS, CHARGED)
