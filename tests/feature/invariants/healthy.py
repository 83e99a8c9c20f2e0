"""A world without a site in which every rule holds, with a cluster in each state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from ipucloud.db.engine import Database
from tests.support.factories import make_project
from tests.support.partitions import make_partition
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import start_clock, stop_clock


@dataclass(frozen=True)
class Healthy:
    """`ids`: what the statements of a corruption may name.

    `active` has four machines and a `partition`, and is in use; `deleting` was in use for six hours, `suspended` was in
    use. `operation` creates `creating` and is open; `finished` created `active`.
    """

    world: World
    scratch: Scratch
    ids: Mapping[str, UUID]


async def build(database: Database, scratch: Scratch) -> Healthy:
    """Everything but `creating` began half a day ago."""
    world = await World.seeded(database)
    async with database.begin() as connection:
        other = await make_project(connection)
    now = datetime.now(UTC)
    stop_clock(scratch.owner_url, now - timedelta(hours=12))
    active = await world.create("active", flavor="m2000-pod16")
    names = ("deleting", "deleted", "failed", "suspended")
    deleting, deleted, failed, suspended = [(await world.create(name)).target_id for name in names]
    stop_clock(scratch.owner_url, now - timedelta(hours=6))
    for cluster in (active.target_id, deleting, deleted, suspended):
        await world.finish_create(cluster)
    await world.fail_create(failed)
    start_clock(scratch.owner_url)
    async with database.begin() as connection:
        partition = await make_partition(connection, world.project.id, active.target_id)
    creating = await world.create("creating")
    for cluster in (deleting, deleted):
        await world.delete(cluster)
    await world.finish_delete(deleted)
    await world.suspend(suspended)
    await world.finish_suspend(suspended)
    ids = {"project": world.project.id, "other": other.id, "partition": partition}
    ids |= {"active": active.target_id, "creating": creating.target_id, "deleting": deleting, "deleted": deleted}
    ids |= {"failed": failed, "suspended": suspended}
    return Healthy(world, scratch, ids | {"operation": creating.operation_id, "finished": active.operation_id})
