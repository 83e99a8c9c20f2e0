"""Budgets that refuse new clusters: checked in the statement that admits a create, with the last figures."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.db.documents import clauses, money
from ipucloud.kernel.errors import BUDGET_REACHED, Problem

REACHED = """
b.month = date_trunc('month', app_now() AT TIME ZONE 'UTC')::date
AND CASE t.measure WHEN 'actual' THEN b.actual ELSE b.forecast END * 100 >= b.amount * t.percent
"""
"""Whether a threshold `t` of a budget `b` is reached now: the amount as it is, figures as the last turn left them."""
REFUSES = clauses(
    "EXISTS (SELECT FROM budget_thresholds t WHERE t.budget_id = b.id AND t.action IS NOT NULL AND", REACHED, ")"
)
"""Whether a budget `b` refuses to create and resume clusters now; every action does."""

REFUSING_BUDGET = clauses(
    "(SELECT json_build_object('id', b.id, 'name', b.name,",
    f"'amount', {money('b.amount', 'b.currency')}, 'actual', {money('b.actual', 'b.currency')},",
    f"'forecast', {money('b.forecast', 'b.currency')})",
    """
       FROM budgets b
      WHERE b.deleted_at IS NULL
        AND (b.project_id = :project_id AND (b.tag_key IS NULL OR CAST(:tags AS jsonb) ->> b.tag_key = b.tag_value)
             OR b.account_id = (SELECT account_id FROM payer_of(:project_id, app_now())))
        AND
    """,
    REFUSES,
    "ORDER BY b.created_at, b.id LIMIT 1)",
)
"""A scalar subquery: the first budget that refuses a cluster of `:project_id` with `:tags`, as JSON, else NULL."""


def refused(budget: Mapping[str, object]) -> Problem:
    """409 that names the budget."""
    return Problem(
        BUDGET_REACHED,
        f"Budget {budget['name']}, of this project, of a tag or of the account that pays, has reached a threshold that"
        " refuses to create, resume and enlarge clusters, and to reserve. Raise its amount or remove the threshold's"
        " action, delete clusters if it is a forecast, or wait for the next month.",
        extra={"budget": budget},
    )
