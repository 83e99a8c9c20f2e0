"""Clusters that an empty account suspends: those of all projects it pays for, if its policy is `suspend`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.prepaid.funds import prepaid_facts
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements


class _Due(NamedTuple):
    project_id: UUID
    cluster_id: UUID
    account_id: UUID


_DUE = Query(
    """
    SELECT c.project_id, c.id AS cluster_id, payer.account_id
      FROM unnest(CAST(:accounts AS uuid[])) AS payer (account_id)
     CROSS JOIN LATERAL projects_paid_by(payer.account_id) AS paid
      JOIN cluster_lives c ON c.project_id = paid.project_id AND c.state = ANY(CAST(:states AS text[]))
     WHERE (CAST(:cluster_id AS uuid) IS NULL OR c.id = :cluster_id)
       AND NOT EXISTS (
             SELECT FROM operations o
              WHERE o.cluster_id = c.id AND o.partition_id IS NULL
                AND o.state NOT IN ('cancelled', 'failed', 'succeeded')
                -- A cluster in use has one that only waits for capacity.
                AND o.kind <> 'cluster.resize')
     ORDER BY c.id LIMIT :limit
    """,
    _Due,
)
_ANY = Query("SELECT EXISTS (SELECT FROM prepaid_accounts WHERE when_empty = 'suspend' AND state = 'empty')", bool)


async def out_of_funds(connection: Statements, *, states: Sequence[str], limit: int) -> list[tuple[UUID, UUID]]:
    """Project and id of clusters in such a state whose account has no funds; none with an open operation of its own."""
    if not await _ANY.one(connection):
        return []
    accounts = await _empty(connection, None)
    values = {"accounts": accounts, "cluster_id": None, "states": list(states), "limit": limit}
    return [(due.project_id, due.cluster_id) for due in await _DUE.all(connection, values)]


async def empty_payer(
    connection: Statements, project_id: UUID, cluster_id: UUID, *, states: Sequence[str]
) -> UUID | None:
    """The account that pays for the cluster, if it has run empty and suspends then."""
    accounts = await _empty(connection, project_id)
    values = {"accounts": accounts, "cluster_id": cluster_id, "states": list(states), "limit": 1}
    due = await _DUE.one_or_none(connection, values)
    return None if due is None else due.account_id


async def _empty(connection: Statements, project_id: UUID | None) -> list[UUID]:
    """Accounts that are empty and suspend then. Funds are computed again: one paid into meanwhile suspends nothing."""
    accounts = await prepaid_facts(connection, suspending=True, project_id=project_id)
    return [facts.account_id for facts in accounts if facts.standing.remaining() <= 0]
