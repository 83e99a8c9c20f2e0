"""Rules about credits: machines are not billed where a health report says that they did not work, and only there."""

from __future__ import annotations

from ipucloud.clusters.not_working import CREDITED, DEGRADING
from ipucloud.invariants.rules import Invariant, Refusal

_EVIDENCE_STANDS = Refusal("Usage and its evidence are never rewritten; a wrong bill is corrected by a credit note.")
_SETTLE = Refusal("The next observation of the cluster's hardware sets the number; without one, a person must decide.")


def _not_working(which: str) -> str:
    """SQL of `clusters.not_working.Block.not_working` for one block: the `least` or `most` that may have failed."""
    share = f"ceil(sold.machines * {which}_hosts::numeric / nullif(sold.servers, 0))"
    return f"""coalesce(least(sold.machines, CASE WHEN sold.own_hosts THEN greatest({which}_machines, {share})
                                             ELSE {which}_machines + coalesce({share}, 0) END), 0)"""


CITES = Invariant(
    name="credit_cites_a_report",
    sentence="A usage interval has credited machines exactly if it cites a health report.",
    object_type="usage_interval",
    remedy="Find out what opened the interval without `credit`; correct a wrong bill with a credit note"
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
    sentence="A credit cites confirmed, creditable reports that had not ended when it began.",
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
    sentence="No credit begins before its fault was first seen.",
    object_type="usage_interval",
    remedy="Find out what called `credit` with an earlier time. The operator bears what was credited wrongly.",
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
    sentence="Machines are credited only while a cited report is live; a reservation's at most a minute longer.",
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
                               OR (SELECT kind FROM resources s WHERE s.id = u.resource_id) = 'reservation'
                                  AND r.cleared_at > app_now() - interval '1 minute'))
    """,
)

# What was known when an interval ended, and while the hardware was held, decides: a fault that was confirmed later may
# have been left out, and one whose end was seen later may have been counted on. So there is a least and a greatest
# number, which differ for moments only.
FOLLOWS = Invariant(
    name="credit_counts_what_did_not_work",
    sentence="An ended usage interval credits, at every moment, what did not work by the health reports.",
    object_type="usage_interval",
    remedy="Compare the interval with the history of the machines. Make good what was billed wrongly with a credit note"
    " (`ipucloud credit-notes create`); the operator bears what was credited wrongly.",
    repair=_EVIDENCE_STANDS,
    statement=f"""
    WITH fault AS (
      SELECT u.id AS interval_id, u.started_at, u.ended_at, report.machine_id, report.host_id,
             CASE u.resource_id WHEN held.cluster_id THEN 0 ELSE held.block END AS block,
             date_trunc('second', greatest(report.first_seen_at, held.created_at)) AS since,
             date_trunc('second', least(CASE WHEN report.cleared_at IS NOT NULL
                                             THEN coalesce(report.good_since, report.cleared_at) END, held_until.at))
               AS until,
             date_trunc('second', least(report.cleared_at, held_until.at)) AS known_until,
             report.confirmed_at <= least(u.ended_at, held_until.at) AS known
        FROM health_reports report
        JOIN allocations held ON held.machine_id = report.machine_id OR held.host_id = report.host_id
        JOIN usage_intervals u
          ON u.project_id = held.project_id AND u.resource_id IN (held.cluster_id, held.reservation_id)
       CROSS JOIN LATERAL (SELECT CASE u.resource_id WHEN held.cluster_id THEN held.released_at ELSE held.freed_at END)
             AS held_until (at)
       WHERE {CREDITED} AND u.ended_at > u.started_at AND report.first_seen_at < u.ended_at
         AND coalesce(least(report.cleared_at, held_until.at) > u.started_at, true)
    ), moment AS (
      SELECT interval_id, started_at AS at FROM fault
       UNION SELECT interval_id, since FROM fault WHERE since > started_at AND since < ended_at
       UNION SELECT interval_id, until FROM fault WHERE until > started_at AND until < ended_at
    ), failed AS (
      SELECT moment.interval_id, moment.at, fault.block,
             count(DISTINCT machine_id) FILTER (WHERE known AND coalesce(moment.at < until, true)) AS least_machines,
             count(DISTINCT host_id) FILTER (WHERE known AND coalesce(moment.at < until, true)) AS least_hosts,
             count(DISTINCT machine_id) FILTER (WHERE coalesce(moment.at < known_until, true)) AS most_machines,
             count(DISTINCT host_id) FILTER (WHERE coalesce(moment.at < known_until, true)) AS most_hosts
        FROM moment LEFT JOIN fault ON fault.interval_id = moment.interval_id AND fault.since <= moment.at
       GROUP BY moment.interval_id, moment.at, fault.block
    ), sold AS (
      SELECT u.id AS interval_id, u.project_id, u.started_at, u.ended_at, u.credited,
             coalesce(r.machines, u.quantity) AS machines,
             coalesce(r.servers, (SELECT count(*) FROM allocations held
                                   WHERE held.project_id = u.project_id AND held.cluster_id = u.resource_id
                                     AND held.host_id IS NOT NULL
                                     AND date_trunc('second', held.created_at) <= u.started_at
                                     AND coalesce(held.released_at > u.started_at, true))) AS servers,
             coalesce(r.own_hosts, c.allocated_through <> 'v-ipu') AS own_hosts
        FROM usage_intervals u
        LEFT JOIN clusters c ON (c.project_id, c.id) = (u.project_id, u.resource_id)
        LEFT JOIN reservations r ON (r.project_id, r.id) = (u.project_id, u.resource_id)
       WHERE u.id IN (SELECT interval_id FROM fault)
    ), counted AS (
      SELECT sold.interval_id, sold.project_id, sold.credited, failed.at,
             sum({_not_working("least")}) AS fewest, sum({_not_working("most")}) AS most
        FROM failed JOIN sold ON sold.interval_id = failed.interval_id
       GROUP BY sold.interval_id, sold.project_id, sold.credited, failed.at
    )
    SELECT DISTINCT ON (interval_id) interval_id::text AS object_id, project_id,
           format('%s machines are credited, and at %s %s did not work', credited, at,
                  CASE WHEN fewest = most THEN fewest::text ELSE format('%s to %s', fewest, most) END) AS detail
      FROM counted WHERE credited NOT BETWEEN fewest AND most ORDER BY interval_id, at
    """,  # noqa: S608  # our own text
    parameters={"degrading": sorted(DEGRADING)},
)

CHARGED = Invariant(
    name="charge_leaves_out_what_is_credited",
    sentence="A charge leaves out credited machines (the last three closed hours).",
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

RULES = (CITES, REPORT_JUSTIFIES, NOT_BEFORE, ENDS, FOLLOWS, CHARGED)
