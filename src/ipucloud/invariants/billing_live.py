"""Rules about budgets, prepaid accounts and dunning: alerts, holds, top-ups and restrictions have their causes."""

from __future__ import annotations

from ipucloud.invariants.rebooking import ENTERED
from ipucloud.invariants.rules import Invariant, Refusal, by

_ANNOUNCED = Refusal("A sent event cannot be withdrawn; a person must inform the customer.")

FIRES_ONCE = Invariant(
    name="budget_threshold_fires_once",
    sentence="A budget's threshold fires at most once a month, at its percentage.",
    object_type="budget",
    remedy="Inform the customer: the alert is wrong, and does nothing more. Find out what bypassed its key.",
    repair=_ANNOUNCED,
    statement="""
    SELECT a.budget_id::text AS object_id, min(b.project_id::text)::uuid AS project_id,
           format('%s %s %% fired %s times in %s, at %s of %s', a.measure, a.percent, count(*),
                  to_char(a.month, 'YYYY-MM'), min(a.figure), min(a.amount)) AS detail
      FROM budget_alerts a LEFT JOIN budgets b ON b.id = a.budget_id
     GROUP BY a.budget_id, a.month, a.measure, a.percent
    HAVING count(*) > 1 OR bool_or(a.figure * 100 < a.amount * a.percent)
    """,
)

ANNOUNCED_ONCE = Invariant(
    name="budget_alert_is_sent_once",
    sentence="Each budget alert of this month and last has exactly one event.",
    object_type="budget",
    remedy="Inform the customer: the event was sent twice, or not at all. Find out what writes such events.",
    repair=_ANNOUNCED,
    statement="""
    WITH recent AS (
      SELECT date_trunc('month', app_now() AT TIME ZONE 'UTC') - interval '1 month' AS since
    ), announced AS (
      SELECT e.subject_id AS budget_id, e.project_id, e.data ->> 'month' AS month,
             CASE e.type WHEN 'budget.threshold_reached' THEN 'actual' ELSE 'forecast' END AS measure,
             (e.data ->> 'percent')::integer AS percent, count(*) AS times
        FROM budgets b
        JOIN events e ON e.project_id = b.project_id AND e.subject_id = b.id
         AND e.type IN ('budget.threshold_reached', 'budget.forecast_reached')
       GROUP BY 1, 2, 3, 4, 5
    ), fired AS (
      SELECT a.budget_id, b.project_id, to_char(a.month, 'YYYY-MM') AS month, a.measure, a.percent
        FROM budget_alerts a JOIN budgets b ON b.id = a.budget_id
       WHERE b.project_id IS NOT NULL
    )
    SELECT DISTINCT budget_id::text AS object_id, project_id,
           format('%s %s %% of %s was announced %s times', measure, percent, month, coalesce(times, 0)) AS detail
      FROM fired FULL JOIN announced USING (budget_id, project_id, month, measure, percent), recent
     WHERE month >= to_char(recent.since, 'YYYY-MM')
       AND (times IS DISTINCT FROM 1 OR NOT EXISTS (
              SELECT FROM fired f
               WHERE (f.budget_id, f.month, f.measure, f.percent)
                   = (announced.budget_id, announced.month, announced.measure, announced.percent)))
    """,
)

FIGURES = Invariant(
    name="budget_has_figures_of_one_month",
    sentence="A budget's actual amount is not above its forecast.",
    object_type="budget",
    remedy="Wait for the next bookkeeping run, which recomputes both. If it stays, fix `reports/outlook.py`.",
    repair=Refusal("The next bookkeeping run recomputes the figures."),
    statement="""
    SELECT id::text AS object_id, project_id,
           format('used %s, forecast %s of %s', actual, forecast, to_char(month, 'YYYY-MM')) AS detail
      FROM budgets
     WHERE deleted_at IS NULL AND (actual > forecast OR extract(day FROM month) <> 1)
    """,
)

HOLD_HAS_OWNER = Invariant(
    name="hold_has_an_owner",
    sentence="Every hold on funds is for an existing cluster and account.",
    object_type="create_hold",
    remedy="Apply the audit's repair. Find out why bookkeeping did not release the hold.",
    repair=by(
        "releases the hold",
        """
        UPDATE create_holds SET released_at = app_now(), reason = 'gone'
         WHERE cluster_id = CAST(:object_id AS uuid) AND released_at IS NULL
           AND (CAST(:project_id AS uuid) IS NULL OR project_id = :project_id)
        """,
    ),
    statement="""
    SELECT h.cluster_id::text AS object_id, h.project_id,
           format('%s %s of account %s since %s, for %s', h.amount, h.currency, h.account_id, h.created_at,
                  coalesce('a cluster deleted at ' || c.deleted_at, 'no cluster of the project')) AS detail
      FROM create_holds h
      LEFT JOIN clusters c ON c.project_id = h.project_id AND c.id = h.cluster_id
      LEFT JOIN billing_accounts a ON a.id = h.account_id
     WHERE h.released_at IS NULL
       AND (c.id IS NULL OR a.id IS NULL OR c.deleted_at < app_now() - interval '1 hour')
    """,
)

HELD_RIGHTLY = Invariant(
    name="hold_is_of_who_paid_when_it_was_made",
    sentence="A hold is on the account that paid when it was made.",
    object_type="create_hold",
    remedy="Find out what wrote the hold; release it, and hold the cost of the first hour on the correct account.",
    repair=Refusal("A person must decide which account's funds to hold."),
    statement="""
    SELECT h.cluster_id::text AS object_id, h.project_id,
           format('of account %s, which did not pay for the project at %s', h.account_id, h.created_at) AS detail
      FROM create_holds h
     WHERE h.released_at IS NULL
       AND h.account_id IS DISTINCT FROM (SELECT account_id FROM payer_of(h.project_id, h.created_at))
    """,
)

TOPPED_UP = Invariant(
    name="top_up_is_followed",
    sentence="A policy waits for its account's open top-up, whose end is reported within an hour.",
    object_type="account",
    remedy="See whether a worker keeps the books. Set the policy anew: it then waits for the open top-up.",
    repair=Refusal("Workers report the end of a top-up; a person must find out why none does."),
    statement="""
    SELECT t.account_id::text AS object_id, NULL::uuid AS project_id,
           format('the top-up %s has ended as %s, which is not reported', p.reference, p.state) AS detail
      FROM top_up_policies t JOIN payments p ON p.id = t.payment_id
     WHERE p.finished_at + interval '1 hour' <= app_now()
     UNION ALL
    SELECT t.account_id::text, NULL::uuid, format('the top-up %s is open and is not waited for', p.reference)
      FROM top_up_policies t JOIN payments p ON p.account_id = t.account_id
     WHERE p.automatic AND p.finished_at IS NULL AND p.id IS DISTINCT FROM t.payment_id
    """,
)

# An hour ago too, because a worker has to notice that a day began or a payment came in.
RESTRICTED = Invariant(
    name="restriction_follows_overdue_invoices",
    sentence="An account's restriction follows its longest overdue invoice within an hour.",
    object_type="account",
    remedy="Apply the audit's repair. Workers do that every minute (task `keep_books`): find out why none does.",
    repair=ENTERED,
    statement="""
    WITH judged AS (
      SELECT d.account_id, d.restriction, late.days,
             CASE WHEN late.days >= d.suspend_after THEN 'suspend'
                  WHEN late.days >= d.refuse_creates_after THEN 'refuse_creates' END AS expected
        FROM dunning_policies d
       CROSS JOIN (VALUES (app_now()), (app_now() - interval '1 hour')) AS moment (at)
       CROSS JOIN LATERAL (
             SELECT max((moment.at AT TIME ZONE 'UTC')::date - i.due_on) AS days FROM invoices i
              WHERE i.account_id = d.account_id AND i.due > coalesce((
                      SELECT sum(s.amount) FROM invoice_settlements s
                       WHERE s.invoice_id = i.id AND s.settled_at <= moment.at), 0)) AS late
    )
    SELECT account_id::text AS object_id, NULL::uuid AS project_id,
           format('%s; the oldest open invoice is %s days overdue', coalesce(restriction, 'no restriction'),
                  coalesce(greatest(max(days), 0), 0)) AS detail
      FROM judged GROUP BY account_id, restriction
    HAVING NOT bool_or(restriction IS NOT DISTINCT FROM expected)
    """,
)

RULES = (FIRES_ONCE, ANNOUNCED_ONCE, FIGURES, HOLD_HAS_OWNER, HELD_RIGHTLY, TOPPED_UP, RESTRICTED)
