"""Clusters that a budget suspends: those that it covers, once a month for each such threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import clauses, money
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
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


_AIMED = clauses(
    """
    WITH reached AS MATERIALIZED (
      SELECT b.id AS budget_id, b.month, t.measure, t.percent, b.project_id, b.account_id, b.tag_key, b.tag_value
        FROM budgets b JOIN budget_thresholds t ON t.budget_id = b.id
       WHERE b.deleted_at IS NULL AND t.action = 'suspend' AND
    """,
    REACHED,
    """
    ), counted AS (
      SELECT r.*, r.project_id AS payee FROM reached r WHERE r.project_id IS NOT NULL
      UNION ALL
      SELECT r.*, paid.project_id FROM reached r CROSS JOIN LATERAL projects_paid_by(r.account_id) AS paid
    ), aimed AS (
      SELECT r.budget_id, r.month, r.measure, r.percent, c.project_id, c.id AS cluster_id
        FROM counted r JOIN resources c ON c.project_id = r.payee
        JOIN cluster_lives life ON (life.project_id, life.id) = (c.project_id, c.id)
       WHERE life.state = ANY(CAST(:states AS text[])) AND (r.tag_key IS NULL OR c.tags ->> r.tag_key = r.tag_value)
         AND (CAST(:cluster_id AS uuid) IS NULL OR c.id = :cluster_id)
    )
    """,
)


class _Due(NamedTuple):
    project_id: UUID
    cluster_id: UUID


_DUE = Query(
    clauses(
        _AIMED,
        """
        SELECT DISTINCT project_id, cluster_id FROM aimed a
         WHERE NOT EXISTS (
                 SELECT FROM budget_suspensions s
                  WHERE (s.budget_id, s.month, s.measure, s.percent, s.cluster_id)
                      = (a.budget_id, a.month, a.measure, a.percent, a.cluster_id))
           AND NOT EXISTS (
                 SELECT FROM operations o
                  WHERE o.cluster_id = a.cluster_id AND o.partition_id IS NULL
                   AND o.state NOT IN ('cancelled', 'failed', 'succeeded')
                   -- A cluster in use has one that only waits for capacity.
                   AND o.kind <> 'cluster.resize')
         ORDER BY cluster_id LIMIT :limit
        """,
    ),
    _Due,
)


class ReachedThreshold(NamedTuple):
    """Why a cluster is suspended: a percentage of a budget's amount is used or forecast."""

    budget_id: UUID
    budget: str
    measure: str
    percent: int


_NOTE = Query(
    clauses(
        _AIMED,
        """
    , noted AS (
      INSERT INTO budget_suspensions (budget_id, month, measure, percent, cluster_id)
      SELECT budget_id, month, measure, percent, cluster_id FROM aimed
      ON CONFLICT DO NOTHING
      RETURNING budget_id, measure, percent
    )
    SELECT noted.budget_id, b.name AS budget, noted.measure, noted.percent
      FROM noted JOIN budgets b ON b.id = noted.budget_id
     ORDER BY b.created_at, b.id, noted.measure, noted.percent LIMIT 1
    """,
    ),
    ReachedThreshold,
)


async def over_budget(connection: Statements, *, states: Sequence[str], limit: int) -> list[tuple[UUID, UUID]]:
    """Project and id of clusters in one of the states that a reached threshold has not suspended yet.

    Those with an open operation follow when it is done.
    """
    return [*await _DUE.all(connection, {"states": list(states), "cluster_id": None, "limit": limit})]


async def note_over_budget(
    connection: AsyncConnection, cluster_id: UUID, *, states: Sequence[str]
) -> ReachedThreshold | None:
    """Record that every reached threshold has suspended the cluster; returns the first that had not yet.

    The caller holds the cluster's lock, and suspends it in the same transaction. None: there is no such threshold,
    for example because the amount was raised.
    """
    return await _NOTE.one_or_none(connection, {"states": list(states), "cluster_id": cluster_id})
