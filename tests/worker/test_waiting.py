"""Clusters that wait for capacity, with a worker and the simulated site."""

from __future__ import annotations

from uuid import UUID

import pytest

from ipucloud.clusters.operations.waiting import MayWait
from tests.support.waiting import until
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 16}
WAITS = MayWait(for_capacity=True)
OVER = "UPDATE capacity_waits SET since = app_now() - interval '2 hours', until = app_now() - interval '1 second'"


async def state(world: SiteWorld, cluster: UUID) -> str:
    return str(await world.value("SELECT state FROM clusters WHERE id = :id", id=cluster))


async def test_a_cluster_that_waited_is_built_like_any_other_once_there_is_room(world: SiteWorld) -> None:
    async with world.worker():
        full = await world.build(flavor="m2000-pod64")
        waits = await world.create("waits", "m2000-pod16", wait_for_capacity=True)
        step = "SELECT count(*) FROM operation_steps WHERE name = 'wait_for_capacity' AND state = 'running'"
        await until(lambda: world.value(step), "it waits")
        operation = await world.operation(waits.operation_id)
        assert (operation["stage"], operation["cancellable"]) == ("CAPACITY", True)
        assert "capacity" in operation["blocked_by"]
        await world.delete(full)
        await world.succeeded(waits)
    assert await state(world, waits.target_id) == "active"
    granted = "SELECT granted_at <= c.ready_at FROM capacity_waits w JOIN clusters c ON c.id = w.cluster_id"
    assert await world.value(granted)


async def test_a_wait_that_is_cancelled_or_over_ends_and_costs_nothing(world: SiteWorld) -> None:
    async with world.worker():
        await world.build(flavor="m2000-pod64")
        cancelled = await world.create("cancelled", "m2000-pod4", wait_for_capacity=True)
        over = await world.create("over", "m2000-pod4", wait_for_capacity=True)
        await world.cancel(cancelled)
        await world.execute(f"{OVER} WHERE cluster_id = :id", id=over.target_id)
        await world.execute("UPDATE work SET run_at = app_now() WHERE key = :key", key=str(over.target_id))
        ended = "SELECT count(*) = 2 FROM operations WHERE finished_at IS NOT NULL AND cluster_id = ANY (:ids)"
        ids = [cancelled.target_id, over.target_id]
        await until(lambda: world.value(ended, ids=ids), "both have ended")
    assert await state(world, cancelled.target_id) == "deleted"
    assert await state(world, over.target_id) == "error"
    assert (await world.operation(over.operation_id))["error"]["code"] == "capacity_wait_expired"
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE resource_id = ANY (:ids)", ids=ids) == 0
    assert await world.value("SELECT sum(used) FROM quotas") == 16


async def test_a_resume_and_a_resize_that_waited_begin_when_there_is_room(world: SiteWorld) -> None:
    async with world.worker():
        rest = await world.build("rest", flavor="m2000-pod4")
        await world.succeeded(await world.suspend(rest))
        bert = await world.build("bert", flavor="m2000-pod16")
        full = [await world.build(f"full{each}", flavor="m2000-pod16") for each in range(3)]
        resize = await world.resize(bert, "m2000-pod32", may_wait=WAITS)
        resume = await world.resume(rest, may_wait=WAITS)
        step = "SELECT count(*) = 2 FROM operation_steps WHERE name = 'wait_for_capacity' AND state = 'running'"
        await until(lambda: world.value(step), "both wait")
        assert [await state(world, each) for each in (rest, bert)] == ["suspended", "active"]
        for each in full:
            await world.delete(each)
        await world.succeeded(resize)
        await world.succeeded(resume)
    assert [await state(world, each) for each in (rest, bert)] == ["active", "active"]
    assert await world.value("SELECT machines FROM clusters WHERE id = :id", id=bert) == 8
    intervals = "SELECT array_agg(quantity ORDER BY started_at) FROM usage_intervals WHERE resource_id = :id"
    assert await world.value(intervals, id=bert) == [4, 8]


async def test_a_wait_that_is_cancelled_or_over_leaves_a_cluster_as_it_was(world: SiteWorld) -> None:
    async with world.worker():
        rest = [await world.build(f"rest{each}", flavor="m2000-pod4") for each in range(2)]
        for each in rest:
            await world.succeeded(await world.suspend(each))
        used = [await world.build(f"used{each}", flavor="m2000-pod16") for each in range(4)]
        sites = await world.value("SELECT array_agg(external_name ORDER BY id) FROM clusters")
        cancelled = [
            await world.resume(rest[0], may_wait=WAITS),
            await world.resize(used[0], "m2000-pod32", may_wait=WAITS),
        ]
        over = [await world.resume(rest[1], may_wait=WAITS), await world.resize(used[1], "m2000-pod32", may_wait=WAITS)]
        for accepted in cancelled:
            await world.cancel(accepted)
        ids = [each.operation_id for each in over]
        await world.execute(f"{OVER} WHERE operation_id = ANY (:ids)", ids=ids)
        await world.execute("UPDATE work SET run_at = app_now() WHERE kind = 'cluster'")
        ended = "SELECT count(*) = 4 FROM operations WHERE finished_at IS NOT NULL AND id = ANY (:ids)"
        ids += [each.operation_id for each in cancelled]
        await until(lambda: world.value(ended, ids=ids), "all have ended")
    for accepted in over:
        assert (await world.operation(accepted.operation_id))["error"]["code"] == "capacity_wait_expired"
    for accepted in cancelled:
        assert (await world.operation(accepted.operation_id))["state"] == "cancelled"
    assert [await state(world, each) for each in (*rest, *used)] == [*["suspended"] * 2, *["active"] * 4]
    assert await world.value("SELECT array_agg(external_name ORDER BY id) FROM clusters") == sites
    assert await world.value("SELECT count(*) FROM clusters WHERE blocked_by IS NOT NULL") == 0
    open_ones = "SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL AND resource_id = ANY (:ids)"
    assert await world.value(open_ones, ids=used) == 4
