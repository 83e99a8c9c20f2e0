"""Clusters that an empty account suspends: those of all projects it pays for, if its policy is `suspend`."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa

from ipucloud.billing.prepaid.funds import FUNDS
from ipucloud.db.documents import clauses
from ipucloud.db.statements import Statements

# The funds are computed again: an account paid into since it was reported as empty suspends nothing.
_DUE = sa.text(
    clauses(
        """
        WITH payer AS MATERIALIZED (
          SELECT p.account_id, p.currency FROM prepaid_accounts p
           WHERE p.when_empty = 'suspend' AND p.state = 'empty'
             AND (CAST(:project_id AS uuid) IS NULL
                  OR p.account_id = (SELECT account_id FROM payer_of(:project_id, app_now())))
        ),
        """,
        FUNDS,
        """
        SELECT f.account_id, c.project_id, c.id AS cluster_id
          FROM funds f
         CROSS JOIN LATERAL projects_paid_by(f.account_id) AS paid
          JOIN billed_clusters c ON c.project_id = paid.project_id AND c.state = ANY(CAST(:states AS text[]))
         WHERE f.left_over <= 0 AND (CAST(:cluster_id AS uuid) IS NULL OR c.id = :cluster_id)
           AND NOT EXISTS (
                 SELECT FROM operations o
                  WHERE o.cluster_id = c.id AND o.state NOT IN ('cancelled', 'failed', 'succeeded'))
         ORDER BY c.id LIMIT :limit
        """,
    )
)
_ANY = sa.text("SELECT EXISTS (SELECT FROM prepaid_accounts WHERE when_empty = 'suspend' AND state = 'empty')")


async def out_of_funds(connection: Statements, *, states: Sequence[str], limit: int) -> list[tuple[UUID, UUID]]:
    """Project and id of clusters in one of the states whose account has no funds; none with an open operation."""
    if not (await connection.execute(_ANY)).scalar_one():
        return []
    values = {"project_id": None, "cluster_id": None, "states": list(states), "limit": limit}
    return [(row.project_id, row.cluster_id) for row in await connection.execute(_DUE, values)]


async def empty_payer(
    connection: Statements, project_id: UUID, cluster_id: UUID, *, states: Sequence[str]
) -> UUID | None:
    """The account that pays for the cluster, if it has run empty and suspends then."""
    values = {"project_id": project_id, "cluster_id": cluster_id, "states": list(states), "limit": 1}
    row = (await connection.execute(_DUE, values)).one_or_none()
    return None if row is None else row.account_id
