"""Kill -9 of a worker at every step of a create and of a delete: another process finishes the work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.control_plane import WORKER, kill, process, stop
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.world import World, open_world

pytestmark = pytest.mark.anyio

# The step, and the call whose answer the site keeps back while the worker is killed. `drop_answer` rules out that the
# effect never happened; `stall` rules out that it did.
BUILD = {
    "attach_network": "networks.put",
    "power_on_machines": "redfish.reset",
    "create_allocation": "admin.CreateAllocation",
    "test_cluster": "admin.TestCluster",
    "create_partition": "vipu.CreatePartition",
    "deploy_poplar_servers": "hosts.put_server",
}
CLEAN_UP = {
    "wipe_poplar_servers": "hosts.delete_server",
    "remove_partitions": "vipu.RemovePartition",
    "remove_allocation": "admin.RemoveAllocation",
    "detach_network": "networks.delete",
    "power_off_machines": "redfish.reset",
    "verify_clean": "admin.ListAllocations",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=16) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[World]:
    async with open_world(database, site, worker_internal_port=0, log_format="console") as world:
        yield world
        world.heal()
        async with world.worker():
            await world.delete_all()


@pytest.mark.parametrize("action", ["stall", "drop_answer"])
@pytest.mark.parametrize("step", BUILD)
async def test_a_create_survives_the_death_of_its_worker(world: World, tmp_path: Path, step: str, action: str) -> None:
    world.fault(call=BUILD[step], action=action)
    made = await world.create()
    with process(WORKER, world.settings, tmp_path / "first.log") as first:
        await world.reached(made.operation, step)
        await world.hit(BUILD[step])
        kill(first)
    world.heal()
    with process(WORKER, world.settings, tmp_path / "second.log") as second:
        assert (await world.finished(made.operation)).state == "succeeded"
        assert len(world.partitions()) == 1
        assert await world.value("SELECT count(*) FROM usage_intervals") == 1
        await world.finished(await world.delete(made.id))
        assert stop(second) == 0
    await world.assert_nothing_left()


@pytest.mark.parametrize("action", ["stall", "drop_answer"])
@pytest.mark.parametrize("step", CLEAN_UP)
async def test_a_delete_survives_the_death_of_its_worker(world: World, tmp_path: Path, step: str, action: str) -> None:
    made = await world.create()
    with process(WORKER, world.settings, tmp_path / "first.log") as first:
        await world.finished(made.operation)
        world.fault(call=CLEAN_UP[step], action=action)
        deletion = await world.delete(made.id)
        await world.reached(deletion, step)
        await world.hit(CLEAN_UP[step])
        kill(first)
    world.heal()
    with process(WORKER, world.settings, tmp_path / "second.log"):
        assert (await world.finished(deletion)).state == "succeeded"
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NOT NULL") == 1
    await world.assert_nothing_left()


@pytest.mark.parametrize("operation", ["create", "delete"])
async def test_a_worker_may_die_inside_its_last_transaction(world: World, tmp_path: Path, operation: str) -> None:
    """Activation and burial write state, billing and machines together: half of it is never seen."""
    made = await world.create()
    promised = made.operation
    with process(WORKER, world.settings, tmp_path / "first.log") as first:
        if operation == "delete":
            await world.finished(made.operation)
            promised = await world.delete(made.id)
        # The last step locks the quota first: holding it keeps the worker inside its transaction.
        async with world.database.begin() as connection:
            await connection.exec_driver_sql("SELECT used FROM quotas FOR UPDATE")
            await world.waits_for_a_lock()
            kill(first)
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 0
    with process(WORKER, world.settings, tmp_path / "second.log"):
        assert (await world.finished(promised)).state == "succeeded"
    assert await world.value("SELECT count(*) FROM usage_intervals") == 1
