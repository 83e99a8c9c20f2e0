"""A cloud without a site in which every rule holds, with a cluster in each state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from ipucloud.db.engine import Database
from tests.support.cloud import Cloud, start_clock, stop_clock
from tests.support.factories import Project, make_project, seed_world
from tests.support.partitions import make_partition
from tests.support.postgres import Database as Scratch


@dataclass(frozen=True)
class Healthy:
    """`active` has four machines and is in use; `deleting` was in use for six hours.

    `resting` was in use, and is suspended. `operation` creates `creating` and is open; `finished` created `active`,
    which has the `partition`.
    """

    cloud: Cloud
    scratch: Scratch
    other: Project
    active: UUID
    creating: UUID
    deleting: UUID
    deleted: UUID
    failed: UUID
    resting: UUID
    operation: UUID
    finished: UUID
    partition: UUID

    def values(self) -> dict[str, UUID]:
        """What the statements of a corruption may name."""
        clusters = {
            name: getattr(self, name) for name in ("active", "creating", "deleting", "deleted", "failed", "resting")
        }
        operations = {"operation": self.operation, "finished": self.finished, "partition": self.partition}
        return clusters | operations | {"project": self.cloud.project.id, "other": self.other.id}


async def build(database: Database, scratch: Scratch) -> Healthy:
    """Everything but `creating` began half a day ago."""
    async with database.begin() as connection:
        cloud = Cloud(database, await seed_world(connection))
        other = await make_project(connection)
    now = datetime.now(UTC)
    stop_clock(scratch.owner_url, now - timedelta(hours=12))
    active = await cloud.create("active", flavor="m2000-pod16")
    names = ("deleting", "deleted", "failed", "resting")
    deleting, deleted, failed, resting = [(await cloud.create(name)).target_id for name in names]
    stop_clock(scratch.owner_url, now - timedelta(hours=6))
    for cluster in (active.target_id, deleting, deleted, resting):
        await cloud.finish_create(cluster)
    await cloud.fail_create(failed)
    start_clock(scratch.owner_url)
    async with database.begin() as connection:
        partition = await make_partition(connection, cloud.project.id, active.target_id)
    creating = await cloud.create("creating")
    for cluster in (deleting, deleted):
        await cloud.delete(cluster)
    await cloud.finish_delete(deleted)
    await cloud.suspend(resting)
    await cloud.finish_suspend(resting)
    return Healthy(
        cloud=cloud,
        scratch=scratch,
        other=other,
        active=active.target_id,
        creating=creating.target_id,
        deleting=deleting,
        deleted=deleted,
        failed=failed,
        resting=resting,
        operation=creating.operation_id,
        finished=active.operation_id,
        partition=partition,
    )
