"""Rules about budgets and about accounts that pay ahead: told once, and nothing held for nobody."""

from __future__ import annotations

from ipucloud.invariants.rules import Invariant, Refusal, by

_TOLD = Refusal("What was told is not untold; a person tells whom it concerns.")

FIRES_ONCE = Invariant(
    name="budget_threshold_fires_once",
    sentence="A threshold of a budget fires once a month, at what it says.",
    object_type="budget",
    remedy="Find out what wrote past the key of budget_alerts; delete the alert that is too many, as the owner.",
    repair=_TOLD,
    statement="""
    SELECT a.budget_id::text AS object_id, min(b.project_id::text)::uuid AS project_id,
           format('%s %s %% fired %s times in %s, at %s of %s', a.measure, a.percent, count(*),
                  to_char(a.month, 'YYYY-MM'), min(a.figure), min(a.amount)) AS detail
      FROM budget_alerts a LEFT JOIN budgets b ON b.id = a.budget_id
     GROUP BY a.budget_id, a.month, a.measure, a.percent
    HAVING count(*) > 1 OR bool_or(a.figure * 100 < a.amount * a.percent)
    """,
)

TOLD_ONCE = Invariant(
    name="budget_alert_is_sent_once",
    sentence="What a project's budget fired this month and last was told by one event, and nothing else was.",
    object_type="budget",
    remedy="Tell whom it concerns: a receiver of events was told twice, or not at all. Find out what writes them.",
    repair=_TOLD,
    statement="""
    WITH recent AS (
      SELECT date_trunc('month', app_now() AT TIME ZONE 'UTC') - interval '1 month' AS since
    ), told AS (
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
           format('%s %s %% of %s was told %s times', measure, percent, month, coalesce(times, 0)) AS detail
      FROM fired FULL JOIN told USING (budget_id, project_id, month, measure, percent), recent
     WHERE month >= to_char(recent.since, 'YYYY-MM')
       AND (times IS DISTINCT FROM 1 OR NOT EXISTS (
              SELECT FROM fired f
               WHERE (f.budget_id, f.month, f.measure, f.percent) = (told.budget_id, told.month, told.measure,
                                                                     told.percent)))
    """,
)

FIGURES = Invariant(
    name="budget_has_figures_of_one_month",
    sentence="What a budget was held against is not more than what it was forecast to come to.",
    object_type="budget",
    remedy="Wait for the next turn of the books, which computes both anew; if they stay so, fix `reports/outlook.py`.",
    repair=Refusal("The next turn of the books computes the figures anew."),
    statement="""
    SELECT id::text AS object_id, project_id,
           format('used %s, forecast %s of %s', actual, forecast, to_char(month, 'YYYY-MM')) AS detail
      FROM budgets
     WHERE deleted_at IS NULL AND (actual > forecast OR extract(day FROM month) <> 1)
    """,
)

HOLD_HAS_OWNER = Invariant(
    name="hold_has_an_owner",
    sentence="What is held of an account's funds is held for a cluster that is there, and of an account that exists.",
    object_type="create_hold",
    remedy="Let the audit release the hold. Find out why the books did not.",
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
    sentence="A create holds funds of the account that paid for its project then.",
    object_type="create_hold",
    remedy="Find out what wrote the hold; release it, and hold of the right account what its first hour costs.",
    repair=Refusal("Which account's funds to hold is decided by people."),
    statement="""
    SELECT h.cluster_id::text AS object_id, h.project_id,
           format('of account %s, which did not pay for the project at %s', h.account_id, h.created_at) AS detail
      FROM create_holds h
     WHERE h.released_at IS NULL
       AND h.account_id IS DISTINCT FROM (SELECT account_id FROM payer_of(h.project_id, h.created_at))
    """,
)

RULES = (FIRES_ONCE, TOLD_ONCE, FIGURES, HOLD_HAS_OWNER, HELD_RIGHTLY)
