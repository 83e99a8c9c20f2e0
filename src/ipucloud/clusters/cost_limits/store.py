"""Counting clusters against a token's cost limit, refusing what is beyond it, and finding what has reached it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import COST_LIMIT_REACHED, Problem
from ipucloud.kernel.money import Money

HAS_LIMIT = "EXISTS (SELECT FROM tokens WHERE id = CAST(:token_id AS uuid) AND cost_limit IS NOT NULL)"
"""Whether the token of the request has a cost limit."""


class _Spent(NamedTuple):
    """`per_minute`: of its other clusters that have machines, or are to get some."""

    cost_limit: Decimal
    currency: str
    cost: Decimal
    per_minute: Decimal


class ReachedLimit(NamedTuple):
    """The token whose cost limit is reached."""

    id: UUID
    name: str


_LOCK = sa.text("SELECT FROM tokens WHERE id = :token_id AND cost_limit IS NOT NULL FOR NO KEY UPDATE")
# A statement of its own behind the lock, so that it sees what earlier requests of the token have begun.
_SPENT = Query(
    """
    SELECT t.cost_limit, t.cost_currency AS currency, token_cost(t.project_id, t.id) AS cost,
           (SELECT coalesce(sum(price.unit_price * c.machines), 0)
              FROM token_clusters AS counted
              JOIN clusters AS c ON (c.project_id, c.id) = (counted.project_id, counted.cluster_id)
             CROSS JOIN LATERAL prices_paid(c.project_id, c.sku, c.region, c.currency) AS price
             WHERE counted.project_id = t.project_id AND counted.token_id = t.id AND counted.stopped_at IS NULL
               AND c.id <> :cluster_id
               AND c.state NOT IN ('suspending', 'suspended', 'error', 'deleting', 'deleted')
               AND price.valid_from <= app_now() AND price.valid_to > app_now()) AS per_minute
      FROM tokens AS t
     WHERE t.project_id = :project_id AND t.id = :token_id AND t.cost_limit IS NOT NULL
    """,
    _Spent,
)
_COUNT = sa.text(
    """
    INSERT INTO token_clusters (project_id, token_id, cluster_id)
    SELECT c.project_id, t.id, c.id
      FROM tokens AS t JOIN clusters AS c ON c.project_id = t.project_id AND c.currency = t.cost_currency
     WHERE t.project_id = :project_id AND t.id = :token_id AND c.id = :cluster_id
    ON CONFLICT DO NOTHING
    """
)
_REACHED_BY = Query(
    """
    SELECT t.id, t.name
      FROM token_clusters AS counted
      JOIN tokens AS t ON (t.project_id, t.id) = (counted.project_id, counted.token_id)
     WHERE counted.project_id = :project_id AND counted.cluster_id = :cluster_id AND counted.stopped_at IS NULL
       AND token_cost(t.project_id, t.id) >= t.cost_limit
     ORDER BY t.created_at, t.id LIMIT 1
    """,
    ReachedLimit,
)


class _Due(NamedTuple):
    project_id: UUID
    cluster_id: UUID


_DUE = Query(
    """
    WITH running AS MATERIALIZED (
      SELECT counted.project_id, counted.token_id, counted.cluster_id
        FROM token_clusters AS counted
        JOIN clusters AS c ON (c.project_id, c.id) = (counted.project_id, counted.cluster_id)
       WHERE counted.stopped_at IS NULL AND c.state = ANY(CAST(:states AS text[]))
    ), reached AS MATERIALIZED (
      SELECT t.project_id, t.id FROM tokens AS t
       WHERE (t.project_id, t.id) IN (SELECT project_id, token_id FROM running)
         AND token_cost(t.project_id, t.id) >= t.cost_limit
    )
    SELECT DISTINCT running.project_id, running.cluster_id
      FROM running JOIN reached ON (reached.project_id, reached.id) = (running.project_id, running.token_id)
     WHERE NOT EXISTS (
             SELECT FROM operations AS o
              WHERE o.cluster_id = running.cluster_id AND o.partition_id IS NULL
                AND o.state NOT IN ('cancelled', 'failed', 'succeeded')
                -- A cluster in use has one that only waits for capacity.
                AND o.kind <> 'cluster.resize')
     ORDER BY running.cluster_id LIMIT :limit
    """,
    _Due,
)
_STOP = sa.text(
    """
    UPDATE token_clusters AS counted SET stopped_at = app_now()
      FROM tokens AS t
     WHERE counted.project_id = :project_id AND counted.cluster_id = :cluster_id AND counted.stopped_at IS NULL
       AND t.project_id = counted.project_id AND t.id = counted.token_id
       AND token_cost(t.project_id, t.id) >= t.cost_limit
    """
)


async def count(connection: AsyncConnection, actor: Actor, cluster_id: UUID) -> None:
    """Count the cluster against the limit of the request's token from now on, if it has one."""
    if actor.token_id is not None:
        await connection.execute(_COUNT, _of(actor, cluster_id))


async def count_within_limit(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, per_minute: Money, *, minutes: int
) -> None:
    """Count the cluster, if the limit covers the cost so far and so many minutes of all of the token's clusters.

    Requests of a token are serialised. Raises `Problem` cost_limit_reached.
    """
    ids = _of(actor, cluster_id)
    await connection.execute(_LOCK, {"token_id": actor.token_id})
    spent = await _SPENT.one(connection, ids)
    limit, cost = Money.of(spent.cost_limit, spent.currency), Money.of(spent.cost, spent.currency)
    if per_minute.currency != spent.currency:
        raise Problem(
            COST_LIMIT_REACHED,
            f"The token's cost limit is in {spent.currency}, and the cluster is paid for in {per_minute.currency}."
            " Create a token with a limit in that currency.",
            extra={"cost_limit": _shown(limit=limit, cost=cost)},
        )
    needed = (Money.of(spent.per_minute, spent.currency) + per_minute) * minutes
    if (cost + needed).amount > limit.amount:
        raise Problem(
            COST_LIMIT_REACHED,
            f"The token's cost limit does not cover what its clusters have cost and the next {minutes} minutes of them"
            " with this one; `cost_limit` has the figures. Delete or suspend clusters, choose a smaller flavor, or"
            " use a token with a higher limit.",
            extra={"cost_limit": _shown(limit=limit, cost=cost, needed=needed)},
        )
    await count(connection, actor, cluster_id)


async def refuse_reached(connection: Statements, project_id: UUID, cluster_id: UUID) -> None:
    """Raise `Problem` cost_limit_reached if the cluster counts against a limit that is reached."""
    reached = await _REACHED_BY.one_or_none(connection, {"project_id": project_id, "cluster_id": cluster_id})
    if reached is not None:
        raise Problem(
            COST_LIMIT_REACHED,
            f"The cluster counts against the cost limit of the token {reached.name!r}, which is reached.",
        )


def refused_reservation() -> Problem:
    """409: a reservation costs what it costs, whatever a token's limit."""
    return Problem(
        COST_LIMIT_REACHED,
        "A token with a cost limit cannot reserve capacity: a reservation is paid for all of its time. Use a token"
        " without a limit.",
    )


def refused_storage() -> Problem:
    """409: a volume, snapshot or address costs until somebody deletes it, which no limit does."""
    return Problem(
        COST_LIMIT_REACHED,
        "A token with a cost limit cannot make volumes, snapshots or addresses, or let volumes grow: they are billed"
        " until they are deleted. Use a token without a limit.",
    )


async def over_cost_limit(connection: Statements, *, states: Sequence[str], limit: int) -> list[tuple[UUID, UUID]]:
    """Project and id of clusters in one of the states that count against a limit that is reached.

    Those with an open operation follow when it is done.
    """
    return [*await _DUE.all(connection, {"states": list(states), "limit": limit})]


async def note_over_cost_limit(connection: AsyncConnection, project_id: UUID, cluster_id: UUID) -> ReachedLimit | None:
    """Count the cluster no more against limits that are reached; returns the token of the first. None: of none.

    The caller holds the cluster's lock, and suspends it in the same transaction.
    """
    ids = {"project_id": project_id, "cluster_id": cluster_id}
    reached = await _REACHED_BY.one_or_none(connection, ids)
    if reached is not None:
        await connection.execute(_STOP, ids)
    return reached


def _of(actor: Actor, cluster_id: UUID) -> dict[str, UUID | None]:
    return {"project_id": actor.project_id, "token_id": actor.token_id, "cluster_id": cluster_id}


def _shown(**figures: Money) -> dict[str, object]:
    return {name: each.model_dump(mode="json") for name, each in figures.items()}
