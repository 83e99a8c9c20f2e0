"""The queues of creates that wait for machines, one for each region and machine type.

Preemptible clusters come after the others. Projects take turns, oldest first within a project. A project's turn is
reckoned from its oldest wait, or from when it was last served if that is later; whoever comes later never goes ahead of
the first in the queue, unless that is preemptible and the other is not.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.store import begin_anew

_WAITING = """
  FROM capacity_waits AS w JOIN operations AS o ON (o.project_id, o.id) = (w.project_id, w.operation_id)
 WHERE w.granted_at IS NULL AND o.finished_at IS NULL AND NOT o.undoing AND o.state <> 'cancelling'
   AND w.until > app_now()
"""
_PLACES = f"""
SELECT mine.*, row_number() OVER (
         PARTITION BY region, machine_type
             ORDER BY preemptible, nth, greatest(since, served_at), since, cluster_id) AS place
  FROM (SELECT w.*,
               row_number() OVER (PARTITION BY w.region, w.machine_type, w.preemptible, w.project_id
                                      ORDER BY w.since, w.cluster_id) AS nth,
               (SELECT max(granted_at) FROM capacity_waits AS served
                 WHERE (served.region, served.machine_type, served.project_id)
                     = (w.region, w.machine_type, w.project_id)) AS served_at
          {_WAITING}) AS mine
"""  # noqa: S608  # our own text
SHOWN_WAIT = f"""
LEFT JOIN LATERAL (
  SELECT json_build_object(
           'place', place, 'since', {rfc3339("since")}, 'until', {rfc3339("until")}, 'held_up_by', held_up_by,
           'observed_at', {rfc3339("looked_at")},
           'expected_at', (SELECT {rfc3339("min(c.expires_at)")} FROM clusters AS c
                            WHERE c.region = waits.region AND c.machine_type = waits.machine_type
                              AND c.deleted_at IS NULL AND NOT c.delete_protection AND c.expires_at > app_now()
                              AND c.machines >= page.machines AND waits.place = 1 AND waits.held_up_by IS NULL)
         ) AS document
    FROM ({_PLACES}) AS waits
   WHERE page.state = 'creating' AND waits.project_id = page.project_id AND waits.cluster_id = page.id
) AS waiting ON true
"""  # noqa: S608  # our own text
"""A join that adds `waiting.document` to a `page` of clusters."""
AWAITED = f"""
EXISTS (SELECT {_WAITING} AND w.held_up_by IS NULL AND w.region = :region AND w.machine_type = :machine_type
                      AND (NOT w.preemptible OR :preemptible))
"""  # our own text
"""A boolean: whether clusters wait for machines of `:machine_type` in `:region`, and only for those.

Unless what is asked for is `:preemptible`, those that are do not count: they come after it.
"""


class Waiter(NamedTuple):
    """A cluster that waits."""

    project_id: UUID
    cluster_id: UUID
    operation_id: UUID
    region: str
    machine_type: str
    until: datetime


_QUEUE = Query(
    f"SELECT project_id, cluster_id, operation_id, region, machine_type, until FROM ({_PLACES}) AS waits"  # noqa: S608
    " ORDER BY region, machine_type, place LIMIT :limit",
    Waiter,
)
# Preemptible ones come last in a queue: when one is first, no other waits.
_FIRSTS = Query(
    f"""
    SELECT project_id, cluster_id, operation_id, region, machine_type, until
      FROM (SELECT DISTINCT ON (region, machine_type) * FROM ({_PLACES}) AS waits
             WHERE held_up_by IS NULL AND coalesce(region = CAST(:region AS text), true)
               AND coalesce(machine_type = CAST(:machine_type AS text), true)
             ORDER BY region, machine_type, place) AS firsts
     WHERE looked_at IS NOT NULL AND NOT preemptible
    """,  # noqa: S608  # our own text
    Waiter,
)
_AWAITED = Query(f"SELECT {AWAITED} AS awaited", bool)
_ENQUEUE = sa.text(
    """
    INSERT INTO capacity_waits (operation_id, project_id, cluster_id, region, machine_type, preemptible, since, until)
    SELECT o.id, o.project_id, c.id, c.region, c.machine_type, c.preemptible, app_now(), :until
      FROM operations AS o JOIN clusters AS c ON (c.project_id, c.id) = (o.project_id, o.cluster_id)
     WHERE o.project_id = :project_id AND o.id = :operation_id
    """
)
_GRANT = sa.text(
    """
    UPDATE capacity_waits SET granted_at = app_now(), held_up_by = NULL, looked_at = app_now()
     WHERE project_id = :project_id AND operation_id = :operation_id
    """
)
_WAITS = Query(
    """
    SELECT EXISTS (SELECT FROM capacity_waits
                    WHERE project_id = :project_id AND operation_id = :operation_id
                      AND granted_at IS NULL AND until > app_now())
    """,
    bool,
)
_LOOKED = sa.text(
    """
    UPDATE capacity_waits SET looked_at = app_now(), held_up_by = :held_up_by
     WHERE project_id = :project_id AND operation_id = :operation_id AND granted_at IS NULL
    """
)
_WAITED_FOR = Query(
    f"""
    SELECT coalesce(sum(c.machines), 0) FROM clusters AS c
     WHERE c.project_id = :project_id
       AND c.id IN (SELECT w.cluster_id {_WAITING} AND w.project_id = :project_id AND w.region = :region
                       AND w.machine_type = :machine_type)
    """,  # noqa: S608  # our own text
    int,
)


async def waiters(connection: Statements, limit: int) -> list[Waiter]:
    """All queues, each in its order."""
    return await _QUEUE.all(connection, {"limit": limit})


async def first_waiters(
    connection: Statements, *, region: str | None = None, machine_type: str | None = None
) -> list[Waiter]:
    """The first of each queue, or of that one, if it lacks machines and nothing else, as last looked, and is not
    preemptible."""
    return await _FIRSTS.all(connection, {"region": region, "machine_type": machine_type})


async def machines_waited_for(connection: Statements, *, project_id: UUID, region: str, machine_type: str) -> int:
    """How many machines the project's waiting clusters are to have."""
    values = {"project_id": project_id, "region": region, "machine_type": machine_type}
    return await _WAITED_FOR.one(connection, values)


async def awaited(connection: Statements, region: str, machine_type: str, *, preemptible: bool = False) -> bool:
    """Whether clusters wait for machines of this type, ahead of one that is preemptible or not."""
    values = {"region": region, "machine_type": machine_type, "preemptible": preemptible}
    return await _AWAITED.one(connection, values)


async def enqueue(connection: AsyncConnection, *, project_id: UUID, operation_id: UUID, until: datetime) -> None:
    """Let the cluster of the operation wait."""
    await connection.execute(_ENQUEUE, {"project_id": project_id, "operation_id": operation_id, "until": until})
    failpoint("waiting.enqueued")


async def grant(connection: AsyncConnection, waiter: Waiter, *, deadline_seconds: float) -> bool:
    """End the wait; the operation may take so long from now on. False: it does not wait any more.

    The caller holds the cluster's lock, and takes the machines in the same transaction.
    """
    mine = {"project_id": waiter.project_id, "operation_id": waiter.operation_id}
    if not await _WAITS.one(connection, mine):
        return False
    if not await begin_anew(connection, **mine, deadline_seconds=deadline_seconds):
        return False
    await connection.execute(_GRANT, mine)
    failpoint("waiting.granted")
    return True


async def looked(connection: AsyncConnection, waiter: Waiter, held_up_by: str | None) -> None:
    """Write that the cluster could not have its machines; `held_up_by`: None for the lack of capacity alone."""
    mine = {"project_id": waiter.project_id, "operation_id": waiter.operation_id}
    await connection.execute(_LOOKED, {**mine, "held_up_by": held_up_by})


def behind_the_queue(advice: str) -> Problem:
    """409 for a request that would overtake clusters that wait; `advice`: a sentence on what would help."""
    sentence = f"Clusters wait for machines of this type in the region, and go first. {advice}"
    why_not = {"reason": "queue", "detail": sentence, "numbers": {}}
    return Problem(CAPACITY_EXHAUSTED, sentence, extra={"why_not": why_not})
