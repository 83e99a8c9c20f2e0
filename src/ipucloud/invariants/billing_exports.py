"""Rules about data derived from charges: the daily roll-up."""

from __future__ import annotations

from ipucloud.billing.reports.rollup import DAY_CLOSED, HOLDS
from ipucloud.db.documents import clauses
from ipucloud.invariants.rules import Invariant, by

ROLL_UP = Invariant(
    name="roll_up_is_the_charges",
    sentence="A valid roll-up equals its day's charges (the latest, up to 20,000 clusters).",
    object_type="day",
    remedy="Apply the audit's repair; the roll-up is rebuilt within a minute. Find out what changed it.",
    repair=by(
        "deletes the roll-up, so that it is rebuilt",
        "UPDATE day_rollups SET hours = -1 WHERE day = CAST(:object_id AS date) AND hours >= 0",
    ),
    statement=clauses(
        "WITH last AS (SELECT rolled.day, rolled.version FROM day_rollups AS rolled",
        DAY_CLOSED,
        "WHERE",
        HOLDS,
        """
         AND built_at IS NOT NULL AND rolled.clusters <= 20000 ORDER BY built_at DESC, rolled.day DESC LIMIT 1
        ), charged AS (
          SELECT c.account_id, c.currency, sum(c.minutes) AS minutes, sum(c.machine_minutes) AS machine_minutes,
                 sum(c.credited) AS credited, sum(c.cost) AS cost, sum(c.list_cost) AS list_cost
            FROM last CROSS JOIN generate_series(0, 23) AS n
            -- Hour by hour, so that the planner takes the index and does not read the whole month.
           CROSS JOIN LATERAL (
             SELECT c.account_id, c.currency, sum(c.minutes) AS minutes,
                    sum(c.minutes::bigint * c.quantity) AS machine_minutes,
                    sum(c.minutes::bigint * c.credited) AS credited, sum(c.cost) AS cost,
                    sum(c.minutes * c.quantity * c.list_unit_price) AS list_cost
               FROM usage_charges c
              WHERE c.hour = last.day::timestamp AT TIME ZONE 'UTC' + make_interval(hours => n)
              GROUP BY c.account_id, c.currency) AS c
           GROUP BY c.account_id, c.currency
        ), rolled_up AS (
          SELECT d.account_id, d.currency, sum(d.minutes) AS minutes, sum(d.machine_minutes) AS machine_minutes,
                 sum(d.credited_machine_minutes) AS credited, sum(d.cost) AS cost, sum(d.list_cost) AS list_cost
            FROM last JOIN usage_days d USING (day, version) GROUP BY d.account_id, d.currency
        )
        SELECT (SELECT day FROM last)::text AS object_id, NULL::uuid AS project_id,
               format('%s accounts differ; rolled up %s, charged %s', count(*), sum(r.cost), sum(c.cost)) AS detail
          FROM charged c FULL JOIN rolled_up r USING (account_id, currency)
         WHERE (c.minutes, c.machine_minutes, c.credited, c.cost, c.list_cost)
               IS DISTINCT FROM (r.minutes, r.machine_minutes, r.credited, r.cost, r.list_cost)
        HAVING count(*) > 0
        """,
    ),
)

RULES = (ROLL_UP,)
