"""What the operations that may wait for capacity have in common: their first step, and how long they wait."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.flavor_choice import invalid
from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.operations.begin import open_planned, plan_for
from ipucloud.clusters.operations.kind import ClusterKind, ClusterStep
from ipucloud.clusters.steps.build import wait_for_capacity
from ipucloud.clusters.waiting.queue import enqueue, machines_waited_for
from ipucloud.config import Settings
from ipucloud.db.rows import Query
from ipucloud.inventory.placement import Need, refuse_if_never
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import FieldError
from ipucloud.operations.step import Stage, plan_of
from ipucloud.operations.store import Accepted
from ipucloud.quotas import store as quotas

CAPACITY = Stage("CAPACITY", 0)
WAIT: tuple[ClusterStep, ...] = (ClusterStep(name="wait_for_capacity", stage=CAPACITY, act=wait_for_capacity),)
"""Precedes the steps of an operation that waits."""
WAITS = timedelta(days=1)
"""How long a cluster waits for capacity without a `wait_until`."""
WAITS_AT_MOST = timedelta(days=7)
_NOW = Query("SELECT app_now() AS now", datetime)


class MayWait(NamedTuple):
    """Whether a request waits for machines when none are free, and until when; None: for a day."""

    for_capacity: bool = False
    until: datetime | None = None

    def check(self) -> None:
        """Raise `Problem` validation_failed for an end without a wait."""
        if self.until is not None and not self.for_capacity:
            raise invalid([FieldError("/wait_until", "not_waiting", "Set `wait_for_capacity` too, or omit this.")])

    async def end(self, connection: AsyncConnection) -> Until:
        """When the wait ends. Raises `Problem` validation_failed."""
        now = await _NOW.one(connection)
        until = self.until or now + WAITS
        if not now < until <= now + WAITS_AT_MOST:
            sentence = "Choose an instant in the future, at most seven days from now."
            raise invalid([FieldError("/wait_until", "out_of_range", sentence)])
        return Until(now, until)


AT_ONCE = MayWait()


class Until(NamedTuple):
    """The database's time, and when a wait ends."""

    now: datetime
    until: datetime

    def deadline_seconds(self, settings: Settings) -> float:
        """That of an operation which waits as long, and then begins."""
        return (self.until - self.now).total_seconds() + settings.create_deadline


async def require_quota_for_waiting(
    connection: AsyncConnection, *, project_id: UUID, region: str, machine_type: str, machines: int
) -> None:
    """Raise `Problem` quota_exceeded if these do not fit the quota beside what the project's others wait for."""
    key = {"region": region, "machine_type": machine_type}
    quota = await quotas.find(connection, project_id=project_id, **key)
    needed = machines + await machines_waited_for(connection, project_id=project_id, **key)
    if needed > quota.remaining:
        raise quotas.exceeded(quota, needed)


async def begin_waiting(
    connection: AsyncConnection,
    actor: Actor,
    cluster: LockedCluster,
    kind: ClusterKind,
    until: Until,
    *,
    need: Need,
    more: int,
    settings: Settings,
) -> Accepted:
    """Open the operation on an existing cluster, which stays as it is until its turn has come.

    `more`: how many machines that takes of the quota. Raises `Problem` quota_exceeded; capacity_exhausted for what the
    region could never hold.
    """
    if more > 0:
        await require_quota_for_waiting(
            connection,
            project_id=actor.project_id,
            region=cluster.region,
            machine_type=cluster.machine_type,
            machines=more,
        )
    await refuse_if_never(connection, cluster.region, need)
    plan = (*plan_of(kind.preceding, {}), *plan_for(cluster, kind.steps))
    deadline = until.deadline_seconds(settings)
    accepted = await open_planned(connection, actor, cluster, kind, plan, deadline_seconds=deadline)
    await enqueue(
        connection,
        project_id=actor.project_id,
        operation_id=accepted.operation_id,
        machines=need.machines,
        until=until.until,
    )
    return accepted
