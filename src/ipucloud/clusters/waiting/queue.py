"""The queues of creates, resumes and resizes that wait for machines, one for each region and machine type.

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

from ipucloud.clusters.waiting.tables import PLACES, SERVE_TASK, WAITING
from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.operations.store import begin_anew
from ipucloud.reconcile.wake import wake

SHOWN_WAIT = f"""
LEFT JOIN LATERAL (
  SELECT CASE WHEN EXISTS (
           SELECT {WAITING} AND w.project_id = page.project_id AND w.cluster_id = page.id) THEN (
    SELECT json_build_object(
             'place', place, 'since', {rfc3339("since")}, 'until', {rfc3339("until")}, 'held_up_by', held_up_by,
             'observed_at', {rfc3339("looked_at")}, 'machines', waits.machines,
             'expected_at', {rfc3339("expected_at")})
      FROM shown_waits AS waits
     WHERE waits.project_id = page.project_id AND waits.cluster_id = page.id) END AS document
) AS waiting ON true
"""  # noqa: S608  # our own text
"""A join that adds `waiting.document` to a `page` of clusters."""
AWAITED = f"""
EXISTS (SELECT {WAITING} AND w.held_up_by IS NULL AND w.region = :region AND w.machine_type = :machine_type
                      AND (NOT w.preemptible OR :preemptible))
"""  # our own text
"""A boolean: whether clusters wait for machines of `:machine_type` in `:region`, and only for those.

Unless what is asked for is `:preemptible`, those that are do not count: they come after it.
"""


class Waiter(NamedTuple):
    """A cluster that waits, with the operation in which it does and that operation's kind."""

    project_id: UUID
    cluster_id: UUID
    operation_id: UUID
    kind: str
    region: str
    machine_type: str
    until: datetime


class Ahead(NamedTuple):
    """What a cluster that began to wait now would wait for.

    `clusters`: how many wait already that would go first, unless their projects had their turn. `expected_at`: when a
    cluster that is large enough expires; None: no known expiry tells.
    """

    clusters: int
    expected_at: datetime | None


_QUEUE = Query(
    f"SELECT project_id, cluster_id, operation_id, kind, region, machine_type, until FROM ({PLACES}) AS waits"  # noqa: S608
    " ORDER BY region, machine_type, place LIMIT :limit",
    Waiter,
)
# Preemptible ones come last in a queue: when one is first, no other waits.
_FIRSTS = Query(
    f"""
    SELECT project_id, cluster_id, operation_id, kind, region, machine_type, until
      FROM (SELECT DISTINCT ON (region, machine_type) * FROM ({PLACES}) AS waits
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
    INSERT INTO capacity_waits (
      operation_id, project_id, cluster_id, region, machine_type, preemptible, since, until, kind, machines)
    SELECT o.id, o.project_id, c.id, c.region, c.machine_type, c.preemptible, app_now(), :until, o.kind, :machines
      FROM operations AS o JOIN clusters AS c ON (c.project_id, c.id) = (o.project_id, o.cluster_id)
     WHERE o.project_id = :project_id AND o.id = :operation_id AND :until > app_now()
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
# A resize waits for what it adds to the machines that the quota counts already.
_WAITED_FOR = Query(
    f"""
    SELECT coalesce(sum(greatest(0, waits.machines
                                    - CASE WHEN waits.kind = 'cluster.resize' THEN c.machines ELSE 0 END)), 0)
      FROM (SELECT w.* {WAITING} AND w.project_id = :project_id AND w.region = :region
               AND w.machine_type = :machine_type) AS waits
      JOIN clusters AS c ON (c.project_id, c.id) = (waits.project_id, waits.cluster_id)
    """,  # noqa: S608  # our own text
    int,
)
_AHEAD = Query(
    f"""
    SELECT (SELECT count(*) {WAITING} AND w.region = :region AND w.machine_type = :machine_type
               AND (NOT w.preemptible OR :preemptible)) AS clusters,
           (SELECT min(expires_at) FROM clusters
             WHERE region = :region AND machine_type = :machine_type AND deleted_at IS NULL AND NOT delete_protection
               AND expires_at > app_now() AND machines >= :machines
               AND id IS DISTINCT FROM CAST(:cluster_id AS uuid)) AS expected_at
    """,  # noqa: S608  # our own text
    Ahead,
)
_GRANTED = Query(
    "SELECT EXISTS (SELECT FROM capacity_waits WHERE operation_id = :operation_id AND granted_at IS NOT NULL)", bool
)


async def waiters(connection: Statements, limit: int) -> list[Waiter]:
    """All queues, each in its order."""
    return await _QUEUE.all(connection, {"limit": limit})


async def first_waiters(
    connection: Statements, *, region: str | None = None, machine_type: str | None = None
) -> list[Waiter]:
    """The first of each queue, or of that one, if it lacks machines and nothing else, as last checked, and is not
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


async def ahead(
    connection: Statements,
    region: str,
    machine_type: str,
    machines: int,
    *,
    preemptible: bool,
    cluster_id: UUID | None = None,
) -> Ahead:
    """What `cluster_id`, or one that is to be created, would wait for if it was to have so many machines."""
    values = {
        "region": region,
        "machine_type": machine_type,
        "machines": machines,
        "preemptible": preemptible,
        "cluster_id": cluster_id,
    }
    return await _AHEAD.one(connection, values)


async def granted(connection: Statements, operation_id: UUID) -> bool:
    """Whether the operation waited, and has got its machines."""
    return await _GRANTED.one(connection, {"operation_id": operation_id})


async def enqueue(
    connection: AsyncConnection, *, project_id: UUID, operation_id: UUID, machines: int, until: datetime
) -> None:
    """Let the cluster of the operation wait, and have its queue checked.

    Raises `Problem` validation_failed if the end of the wait has passed while the request was held up.
    """
    values = {"project_id": project_id, "operation_id": operation_id, "machines": machines, "until": until}
    if not (await connection.execute(_ENQUEUE, values)).rowcount:
        sentence = f"{until.isoformat(timespec='seconds')} passed before the wait began. Choose a later instant."
        fault = FieldError("/wait_until", "out_of_range", sentence)
        raise Problem(VALIDATION_FAILED, "The cluster cannot wait until then; nothing was changed.", [fault])
    failpoint("waiting.enqueued")
    await wake_queues(connection)


async def wake_queues(connection: AsyncConnection) -> None:
    """Have the queues served as soon as the transaction commits."""
    await wake(connection, kind="periodic", key=SERVE_TASK)


async def grant(connection: AsyncConnection, waiter: Waiter, *, deadline_seconds: float) -> bool:
    """End the wait; the operation may take so long from now on. False: it does not wait any more.

    The caller holds the cluster's lock, and takes the machines in the same transaction.
    """
    ids = {"project_id": waiter.project_id, "operation_id": waiter.operation_id}
    if not await _WAITS.one(connection, ids):
        return False
    if not await begin_anew(connection, **ids, deadline_seconds=deadline_seconds):
        return False
    await connection.execute(_GRANT, ids)
    failpoint("waiting.granted")
    return True


async def note_check(connection: AsyncConnection, waiter: Waiter, held_up_by: str | None) -> None:
    """Write that the cluster could not have its machines; `held_up_by`: None for the lack of capacity alone."""
    ids = {"project_id": waiter.project_id, "operation_id": waiter.operation_id}
    await connection.execute(_LOOKED, {**ids, "held_up_by": held_up_by})


def behind_the_queue(advice: str) -> Problem:
    """409 for a request that would overtake clusters that wait; `advice`: a sentence on what would help."""
    sentence = f"Clusters wait for machines of this type in the region, and go first. {advice}"
    why_not = {"reason": "queue", "detail": sentence, "numbers": {}}
    return Problem(CAPACITY_EXHAUSTED, sentence, extra={"why_not": why_not})
