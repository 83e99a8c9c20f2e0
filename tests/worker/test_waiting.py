"""Clusters that wait for capacity, with a worker and the simulated site."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import UUID

import pytest

from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=16) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, site) as world:
        yield world
        async with world.worker():
            await world.delete_all()
        await world.assert_nothing_left()


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
        await world.execute(
            "UPDATE capacity_waits SET since = app_now() - interval '2 hours', until = app_now() - interval '1 second'"
            " WHERE cluster_id = :id",
            id=over.target_id,
        )
        await world.execute("UPDATE work SET run_at = app_now() WHERE key = :key", key=str(over.target_id))
        ended = "SELECT count(*) = 2 FROM operations WHERE finished_at IS NOT NULL AND cluster_id = ANY (:ids)"
        ids = [cancelled.target_id, over.target_id]
        await until(lambda: world.value(ended, ids=ids), "both have ended")
    assert await state(world, cancelled.target_id) == "deleted"
    assert await state(world, over.target_id) == "error"
    assert (await world.operation(over.operation_id))["error"]["code"] == "capacity_wait_expired"
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE cluster_id = ANY (:ids)", ids=ids) == 0
    assert await world.value("SELECT sum(used) FROM quotas") == 16
