"""Clusters that wait for capacity: the order of the queue, what it holds back, and what a wait never takes."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from ipucloud.policies.waiting import serve_waiting
from tests.feature.billing.test_killed import killed_at, using
from tests.feature.clusters.test_create import refused
from tests.support.factories import Project, make_project
from tests.support.postgres import Database as Scratch
from tests.support.preemptible import offer_preemptible
from tests.support.waiting import until
from tests.support.world import World
from tests.support.world.clock import shift_clock, start_clock

pytestmark = pytest.mark.anyio


async def serve(world: World) -> None:
    await serve_waiting(world.settings, world.database)


async def wait(world: World, name: str, flavor: str = "m2000-pod16", project: Project | None = None) -> UUID:
    accepted = await world.customer(project or world.project).create(name, flavor, wait_for_capacity=True)
    return accepted.target_id


async def free(world: World, cluster: UUID) -> None:
    await world.delete(cluster)
    await world.finish_delete(cluster)


async def holders(world: World) -> set[UUID]:
    return set(await world.column("SELECT DISTINCT cluster_id FROM allocations WHERE freed_at IS NULL"))


async def other_project(world: World) -> Project:
    async with world.database.begin() as connection:
        return await make_project(connection)


async def test_with_room_a_cluster_does_not_wait(world: World) -> None:
    accepted = await world.create(wait_for_capacity=True)
    cluster = await world.cluster(accepted.target_id)
    assert (cluster["waiting"], cluster["stage"], len(cluster["machines"])) == (None, "NETWORK", 1)


async def test_without_room_it_waits_and_holds_nothing_until_machines_are_free(world: World) -> None:
    full = await world.make_active("full", "m2000-pod64")
    used = await world.value("SELECT sum(used) FROM quotas")
    bert = await wait(world, "bert")
    await serve(world)
    cluster = await world.cluster(bert)
    assert (cluster["state"], cluster["stage"], cluster["machines"]) == ("creating", "CAPACITY", [])
    shown = cluster["waiting"]
    assert (shown["place"], shown["expected_at"], shown["held_up_by"]) == (1, None, None)
    assert shown["observed_at"] >= shown["since"]
    assert await world.value("SELECT sum(used) FROM quotas") == used
    assert cluster["billing"]["status"] == "not_started"
    await free(world, full)
    await serve(world)
    await serve(world)
    cluster = await world.cluster(bert)
    assert (cluster["waiting"], len(cluster["machines"])) == (None, 4)
    assert await world.value("SELECT sum(used) FROM quotas") == 4


async def test_the_expiry_of_a_cluster_that_is_large_enough_is_shown(world: World) -> None:
    expires = datetime.fromisoformat("2126-05-05T10:00:00Z")
    await world.make_active("full", "m2000-pod64", expires_at=expires)
    bert, ernie = await wait(world, "bert"), await wait(world, "ernie")
    assert (await world.cluster(bert))["waiting"]["expected_at"] == "2126-05-05T10:00:00.000000Z"
    assert (await world.cluster(ernie))["waiting"]["expected_at"] is None


async def test_projects_take_turns_oldest_first_within_each(world: World) -> None:
    full = await world.make_active("full", "m2000-pod64")
    other = await other_project(world)
    own = [await wait(world, name, "m2000-pod32") for name in ("m1", "m2")]
    other_cluster = await wait(world, "t1", "m2000-pod32", other)
    assert [(await world.cluster(each))["waiting"]["place"] for each in own] == [1, 3]
    await free(world, full)
    await serve(world)
    assert await holders(world) == {own[0], other_cluster}
    assert (await world.cluster(own[1]))["waiting"]["place"] == 1


async def test_whoever_is_served_has_had_its_turn_also_within_one_run(world: World) -> None:
    """Of a project with an ordinary and a preemptible cluster in the queue the second comes after those of others."""
    async with world.database.begin() as connection:
        await offer_preemptible(connection)
    halves = [await world.make_active(name, "m2000-pod32") for name in ("h1", "h2")]
    other = await other_project(world)
    own = await wait(world, "m1")
    spot = (await world.create("m2", "m2000-pod16", wait_for_capacity=True, preemptible=True)).target_id
    create = world.customer(other).create("t1", "m2000-pod16", wait_for_capacity=True, preemptible=True)
    other_cluster = (await create).target_id
    await free(world, halves[0])
    await serve(world)
    assert await holders(world) - {halves[1]} == {own, other_cluster}
    assert (await world.cluster(spot))["waiting"]["place"] == 1


async def test_a_large_cluster_is_not_starved_by_smaller_ones(world: World) -> None:
    """Neither by those that wait, nor by those that do not, nor by a resume; and the region is not closed for good."""
    halves = [await world.make_active(name, "m2000-pod32") for name in ("h1", "h2")]
    large = await wait(world, "large", "m2000-pod64")
    small = await wait(world, "small", "m2000-pod4", await other_project(world))
    await world.suspend(halves[0])
    await world.finish_suspend(halves[0])
    await serve(world)
    assert await holders(world) & {large, small} == set()
    problem = await refused(world, name="plain")
    why_not: Any = problem.extra["why_not"]
    assert (problem.kind.code, why_not["reason"]) == ("capacity_exhausted", "queue")
    with pytest.raises(Problem, match="capacity_exhausted"):
        await world.resume(halves[0])
    await free(world, halves[1])
    await serve(world)
    assert large in await holders(world)
    assert small not in await holders(world)
    await free(world, large)
    await serve(world)
    assert small in await holders(world)
    assert (await world.create("plain")).target_id in await holders(world)


async def test_who_is_held_up_by_something_else_holds_nobody_back(world: World) -> None:
    full = await world.make_active("full", "m2000-pod64")
    bert = await wait(world, "bert")
    other = await other_project(world)
    other_cluster = await wait(world, "theirs", project=other)
    await world.execute("UPDATE quotas SET machine_limit = used WHERE project_id = :id", id=world.project.id)
    await free(world, full)
    await world.execute("UPDATE quotas SET machine_limit = 0 WHERE project_id = :id", id=world.project.id)
    await serve(world)
    assert (await world.cluster(bert))["waiting"]["held_up_by"] == "quota_exceeded"
    assert await holders(world) == {other_cluster}
    assert await world.customer(other).create("next")
    await world.execute("UPDATE quotas SET machine_limit = 64 WHERE project_id = :id", id=world.project.id)
    await serve(world)
    assert bert in await holders(world)


async def test_a_cancelled_wait_gets_nothing_and_leaves_the_queue(world: World) -> None:
    full = await world.make_active("full", "m2000-pod64")
    accepted = await world.create("bert", "m2000-pod16", wait_for_capacity=True)
    await world.cancel(accepted)
    ernie = await wait(world, "ernie")
    await free(world, full)
    await serve(world)
    assert await holders(world) == {ernie}


async def test_a_deleted_one_leaves_the_queue(world: World) -> None:
    full = await world.make_active("full", "m2000-pod64")
    bert = await wait(world, "bert")
    await world.delete(bert)
    await free(world, full)
    await serve(world)
    assert await holders(world) == set()
    assert (await world.cluster(bert))["waiting"] is None


async def test_a_wait_that_ended_while_the_request_was_held_up_is_refused(world: World, database: Scratch) -> None:
    await world.make_active("full", "m2000-pod64")
    ends = await world.value("SELECT app_now() + interval '1 hour'")
    try:
        async with world.database.begin() as holder:
            await holder.execute(sa.text("SELECT FROM quotas FOR UPDATE"))
            request = asyncio.create_task(refused(world, wait_for_capacity=True, wait_until=ends))
            await until(lambda: world.column("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))
            shift_clock(database.owner_url, "2 hours")
        problem = await request
    finally:
        start_clock(database.owner_url)
    assert [(error.pointer, error.code) for error in problem.errors] == [("/wait_until", "out_of_range")]


@pytest.mark.parametrize(
    ("ahead", "waits", "code"),
    [
        (timedelta(minutes=-1), True, "out_of_range"),
        (timedelta(days=8), True, "out_of_range"),
        (timedelta(hours=1), False, "not_waiting"),
    ],
)
async def test_a_wait_ends_within_seven_days_and_its_end_needs_a_wait(
    world: World, *, ahead: timedelta, waits: bool, code: str
) -> None:
    now = await world.value("SELECT app_now()")
    problem = await refused(world, wait_for_capacity=waits, wait_until=now + ahead)
    assert [(error.pointer, error.code) for error in problem.errors] == [("/wait_until", code)]


async def test_what_can_never_fit_does_not_wait(world: World) -> None:
    problem = await refused(world, flavor="m2000-pod128", wait_for_capacity=True)
    assert problem.kind.code in {"capacity_exhausted", "quota_exceeded"}


async def test_the_quota_covers_what_waits(world: World) -> None:
    await world.make_active("full", "m2000-pod64")
    await world.execute("UPDATE quotas SET machine_limit = used + 4")
    await wait(world, "bert")
    assert (await refused(world, name="ernie", wait_for_capacity=True)).kind.code == "quota_exceeded"


@pytest.mark.parametrize("point", ["waiting.granted", "waiting.machines_taken"])
def test_a_worker_killed_while_it_serves_leaves_the_cluster_in_the_queue(database: Scratch, point: str) -> None:
    async def give(database: Database) -> None:
        await serve_waiting(Settings(), database)

    async def prepare(db: Database) -> None:
        world = await World.seeded(db)
        full = await world.make_active("full", "m2000-pod64")
        await wait(world, "bert")
        await free(world, full)

    async def finish(db: Database) -> tuple[int, int]:
        await give(db)
        held = "SELECT count(*) FROM allocations WHERE machine_id IS NOT NULL AND freed_at IS NULL"
        return await World(db).value(held), await World(db).value("SELECT sum(used) FROM quotas")

    using(database, prepare)
    assert killed_at(database, point, 1, give)
    assert using(database, finish) == (4, 4)


async def test_two_workers_at_once_serve_each_cluster_once(world: World) -> None:
    full = await world.make_active("full", "m2000-pod64")
    waiting = {await wait(world, name, "m2000-pod16") for name in ("a", "b", "c", "d")}
    await free(world, full)
    await asyncio.gather(*(serve(world) for _ in range(3)))
    await serve(world)
    assert await holders(world) == waiting
    assert await world.value("SELECT sum(used) FROM quotas") == 16
