"""Resumes and resizes that wait for capacity: in one queue with creates, and the cluster stays as it is meanwhile."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from ipucloud.clusters.operations.waiting import MayWait
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from ipucloud.policies.waiting import serve_waiting
from tests.feature.billing.test_killed import killed_at, using
from tests.feature.clusters.test_waiting import free, holders, other_project, serve, wait
from tests.support.postgres import Database as Scratch
from tests.support.world import World

pytestmark = pytest.mark.anyio

WAITS = MayWait(for_capacity=True)


async def place(world: World, cluster: UUID) -> int | None:
    waiting = (await world.cluster(cluster))["waiting"]
    return None if waiting is None else int(waiting["place"])


async def machines(world: World, cluster: UUID) -> int:
    held = "SELECT count(machine_id) FROM allocations WHERE cluster_id = :id AND freed_at IS NULL"
    return int(await world.value(held, id=cluster))


async def woken(world: World) -> int:
    return int(await world.value("SELECT coalesce(max(wake_seq), 0) FROM work WHERE key = 'serve_waiting_clusters'"))


async def test_with_room_they_begin_at_once(world: World) -> None:
    rest = await world.make_suspended("rest", "m2000-pod16")
    await world.resume(rest, may_wait=WAITS)
    assert ((await world.cluster(rest))["state"], await machines(world, rest)) == ("resuming", 4)
    bert = await world.make_active()
    await world.resize(bert, "m2000-pod8", may_wait=WAITS)
    assert (await world.cluster(bert))["state"] == "resizing"
    assert await world.value("SELECT count(*) FROM capacity_waits") == 0


async def test_a_waiting_resume_stays_suspended_and_takes_nothing(world: World) -> None:
    rest = await world.make_suspended("rest", "m2000-pod16")
    full = await world.make_active("full", "m2000-pod64")
    used = await world.value("SELECT sum(used) FROM quotas")
    before = await world.cluster(rest)
    accepted = await world.resume(rest, may_wait=WAITS)
    await serve(world)
    cluster = await world.cluster(rest)
    assert (cluster["state"], cluster["stage"], await place(world, rest)) == ("suspended", "CAPACITY", 1)
    assert (cluster["waiting"]["machines"], cluster["waiting"]["held_up_by"]) == (4, None)
    assert cluster["billing"] == before["billing"]
    assert (await world.value("SELECT sum(used) FROM quotas"), await machines(world, rest)) == (used, 0)
    assert (await world.resume(rest)).operation_id == accepted.operation_id  # asked again
    await free(world, full)
    await serve(world)
    cluster = await world.cluster(rest)
    assert (cluster["state"], cluster["waiting"], await machines(world, rest)) == ("resuming", None, 4)
    assert cluster["operation"]["id"] == str(accepted.operation_id)
    assert await world.value("SELECT sum(used) FROM quotas") == 4


async def test_a_waiting_resize_stays_in_use_and_is_billed_until_its_turn(world: World) -> None:
    bert = await world.make_active("bert", "m2000-pod16")
    others = [await world.make_active(name, "m2000-pod16") for name in ("a", "b", "c")]
    used = await world.value("SELECT sum(used) FROM quotas")
    accepted = await world.resize(bert, "m2000-pod32", may_wait=WAITS)
    await serve(world)
    cluster = await world.cluster(bert)
    assert (cluster["state"], cluster["flavor"], await place(world, bert)) == ("active", "m2000-pod16", 1)
    assert cluster["waiting"]["machines"] == 8
    assert cluster["resize"] == {"from_flavor": "m2000-pod16", "to_flavor": "m2000-pod32", "moves": None}
    billed = "SELECT count(*) FROM usage_intervals WHERE resource_id = :id AND ended_at IS NULL"
    assert await world.value(billed, id=bert) == 1
    assert await world.value("SELECT sum(used) FROM quotas") == used
    assert (await world.resize(bert, "m2000-pod32", may_wait=WAITS)).operation_id == accepted.operation_id
    with pytest.raises(Problem, match="operation_in_progress"):
        await world.resize(bert, "m2000-pod64", may_wait=WAITS)
    for each in others:
        await free(world, each)
        await serve(world)
    cluster = await world.cluster(bert)
    assert (cluster["state"], cluster["waiting"]) == ("resizing", None)
    assert cluster["resize"]["moves"] is not None
    assert await world.value(billed, id=bert) == 0
    assert await world.value("SELECT sum(used) FROM quotas") == 8


async def test_all_wait_in_one_queue_and_none_is_overtaken(world: World) -> None:
    bert = await world.make_active("bert", "m2000-pod16")
    rest = await world.make_suspended("rest", "m2000-pod16")
    others = [await world.make_active(name, "m2000-pod16") for name in ("a", "b", "c")]
    await world.resize(bert, "m2000-pod64", may_wait=WAITS)
    await world.resume(rest, may_wait=WAITS)
    new = await wait(world, "new", "m2000-pod4")
    other_cluster = await wait(world, "theirs", "m2000-pod4", await other_project(world))
    assert [await place(world, each) for each in (bert, rest, new)] == [1, 3, 4]
    await free(world, others[0])
    await serve(world)
    assert not await holders(world) & {new, other_cluster}  # there is room, but not for the first
    assert not await machines(world, rest)
    small = await world.customer(await other_project(world)).create("small", "m2000-pod4", wait_for_capacity=True)
    assert small.target_id not in await holders(world)
    for each in others[1:]:
        await free(world, each)
    await serve(world)
    assert (await world.cluster(bert))["state"] == "resizing"
    assert await machines(world, bert) == 16
    assert not await machines(world, rest)
    assert not await holders(world) & {new, other_cluster}


async def test_a_resize_and_a_resume_that_do_not_wait_overtake_nobody(world: World) -> None:
    rest, bert = await world.make_suspended("rest"), await world.make_active("bert", "m2000-pod16")
    halves = [await world.make_active("full", "m2000-pod32"), await world.make_active("spare", "m2000-pod8")]
    waits = await wait(world, "waits", "m2000-pod64")
    for begin in (world.resume(rest), world.resize(bert, "m2000-pod32")):
        with pytest.raises(Problem) as raised:
            await begin
        why_not: Any = raised.value.extra["why_not"]
        assert (raised.value.kind.code, why_not["reason"]) == ("capacity_exhausted", "queue")
        assert "with `wait_for_capacity`, or later" in (raised.value.detail or "")
        assert "create" not in (raised.value.detail or "").lower()
    await world.resize(bert, "m2000-pod8")  # gives machines back
    assert waits not in await holders(world)
    assert len(halves) == 2


async def test_a_cancelled_wait_leaves_everything_as_it_was(world: World) -> None:
    rest = await world.make_suspended("rest", "m2000-pod16")
    bert = await world.make_active("bert", "m2000-pod16")
    full = await world.make_active("full", "m2000-pod32")
    spare = await world.make_active("spare", "m2000-pod16")
    waits = [await world.resume(rest, may_wait=WAITS), await world.resize(bert, "m2000-pod32", may_wait=WAITS)]
    for accepted in waits:
        assert await world.cancel(accepted)
    await free(world, full)
    await free(world, spare)
    await serve(world)
    assert await holders(world) - {rest} == {bert}
    assert [await machines(world, each) for each in (rest, bert)] == [0, 4]
    assert await world.value("SELECT sum(used) FROM quotas") == 4
    assert [await place(world, each) for each in (rest, bert)] == [None, None]


async def test_quota_counts_what_a_resize_adds(world: World) -> None:
    bert = await world.make_active("bert", "m2000-pod16")
    await world.make_active("full", "m2000-pod32")
    await world.make_active("spare", "m2000-pod16")
    await world.execute("UPDATE quotas SET machine_limit = used + 4")
    await world.resize(bert, "m2000-pod32", may_wait=WAITS)
    with pytest.raises(Problem, match="quota_exceeded"):
        await wait(world, "more", "m2000-pod4")


@pytest.mark.parametrize("ahead", [timedelta(minutes=-1), timedelta(days=8), None])
async def test_the_end_of_a_wait_is_checked(world: World, ahead: timedelta | None) -> None:
    now: datetime = await world.value("SELECT app_now()")
    until = now + (ahead or timedelta(hours=1))
    rest, bert = await world.make_suspended("rest", "m2000-pod16"), await world.make_active()
    may_wait = MayWait(for_capacity=ahead is not None, until=until)
    for begin in (world.resume(rest, may_wait=may_wait), world.resize(bert, "m2000-pod8", may_wait=may_wait)):
        with pytest.raises(Problem) as raised:
            await begin
        assert [(each.pointer, each.code) for each in raised.value.errors] == [
            ("/wait_until", "not_waiting" if ahead is None else "out_of_range")
        ]
    assert [(await world.cluster(each))["state"] for each in (rest, bert)] == ["suspended", "active"]


async def test_what_could_never_fit_does_not_wait(world: World) -> None:
    bert = await world.make_active("bert", "m2000-pod16")
    await world.execute("UPDATE quotas SET machine_limit = used")
    with pytest.raises(Problem, match="quota_exceeded"):
        await world.resize(bert, "m2000-pod32", may_wait=WAITS)
    with pytest.raises(Problem, match="validation_failed"):
        await world.resize(bert, "m2000-pod16", may_wait=WAITS)
    assert await world.value("SELECT count(*) FROM capacity_waits") == 0


async def test_a_suspend_ends_a_resize_that_waits_and_a_restart_does_not(world: World) -> None:
    bert = await world.make_active("bert", "m2000-pod16")
    await world.make_active("full", "m2000-pod32")
    await world.make_active("spare", "m2000-pod16")
    accepted = await world.resize(bert, "m2000-pod32", may_wait=WAITS)
    with pytest.raises(Problem) as raised:
        await world.restart(bert)
    assert "waits for capacity to be resized. Cancel that operation first" in (raised.value.detail or "")
    assert raised.value.extra["operation"] == str(accepted.operation_id)
    await world.suspend(bert)
    ended = await world.value("SELECT error ->> 'code' FROM operations WHERE id = :id", id=accepted.operation_id)
    assert ((await world.cluster(bert))["state"], ended) == ("suspending", "preempted")


async def test_a_resize_whose_cluster_is_busy_when_its_turn_comes_holds_nobody_back(world: World) -> None:
    bert = await world.make_active("bert", "m2000-pod16")
    full = await world.make_active("full", "m2000-pod32")
    await world.make_active("spare", "m2000-pod16")
    await world.resize(bert, "m2000-pod32", may_wait=WAITS)
    new = await wait(world, "new", "m2000-pod4")
    await world.create_partition(bert, "train")
    await free(world, full)
    await serve(world)
    assert (await world.cluster(bert))["waiting"]["held_up_by"] == "operation_in_progress"
    assert new in await holders(world)


async def test_what_makes_room_wakes_the_queue_in_its_transaction(world: World) -> None:
    full = await world.make_active("full", "m2000-pod64")
    await world.delete(full)
    before = await woken(world)
    await wait(world, "bert", "m2000-pod4")
    assert await woken(world) > before  # it is looked at for the first time
    before = await woken(world)
    await world.execute("UPDATE quotas SET machine_limit = machine_limit - 1")
    assert await woken(world) == before  # nobody gets anything by that
    await world.execute("UPDATE quotas SET machine_limit = machine_limit + 1")
    assert await woken(world) > before
    before = await woken(world)
    await world.finish_delete(full)
    assert await woken(world) > before
    due = "SELECT run_at <= app_now() FROM work WHERE key = 'serve_waiting_clusters'"
    assert await world.value(due)


@pytest.mark.parametrize("ended_by", ["delete", "suspend"])
async def test_whatever_ends_a_wait_wakes_the_queue(world: World, ended_by: str) -> None:
    """The next in the queue may fit where the first did not."""
    bert = await world.make_active("bert", "m2000-pod16")
    await world.make_active("full", "m2000-pod32")
    await world.resize(bert, "m2000-pod64", may_wait=WAITS)
    new = await wait(world, "new", "m2000-pod4")
    await serve(world)
    assert new not in await holders(world)
    before = await woken(world)
    await (world.delete(bert) if ended_by == "delete" else world.suspend(bert))
    assert await woken(world) > before
    await serve(world)
    assert new in await holders(world)


async def test_without_a_queue_nothing_is_woken(world: World) -> None:
    full = await world.make_active("full", "m2000-pod64")
    before = await woken(world)
    await free(world, full)
    assert await woken(world) == before


async def test_an_estimate_says_that_it_would_wait_and_for_what(world: World) -> None:
    expires = datetime.fromisoformat("2126-05-05T10:00:00Z")
    bert = await world.make_active("bert", "m2000-pod16")
    await world.make_active("full", "m2000-pod32", expires_at=expires)
    await world.make_active("spare", "m2000-pod16")
    capacity = (await world.estimate("new", "m2000-pod16")).capacity
    assert capacity.wait is not None
    assert (capacity.wait.place, capacity.wait.expected_at) == (1, expires)
    await wait(world, "new", "m2000-pod16")
    capacity = (await world.estimate("newer", "m2000-pod16")).capacity
    assert capacity.wait is not None
    assert (capacity.wait.place, capacity.wait.expected_at) == (2, None)
    assert await place(world, bert) is None


@pytest.mark.parametrize("point", ["waiting.granted", "resize.begun", "waiting.machines_taken"])
def test_a_worker_killed_as_a_resize_begins_leaves_it_in_the_queue(database: Scratch, point: str) -> None:
    async def give(db: Database) -> None:
        await serve_waiting(Settings(), db)

    async def prepare(db: Database) -> None:
        world = await World.seeded(db)
        bert = await world.make_active("bert", "m2000-pod16")
        full = [await world.make_active(name, "m2000-pod16") for name in ("a", "b", "c")]
        await world.resize(bert, "m2000-pod32", may_wait=WAITS)
        for each in full:
            await free(world, each)

    async def look(db: Database) -> tuple[object, ...]:
        return tuple(
            await World(db).one(
                "SELECT state, (SELECT sum(used) FROM quotas),"
                " (SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL) FROM clusters WHERE name = 'bert'"
            )
        )

    using(database, prepare)
    assert killed_at(database, point, 1, give)
    assert using(database, look) == ("active", 4, 1)
    using(database, give)
    assert using(database, look) == ("resizing", 8, 0)
