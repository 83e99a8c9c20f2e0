"""Hardware that fails at any step of an operation: it goes on with other hardware, and never waits for ever."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world
from tests.worker.test_replacing import assert_rebuilt, held

pytestmark = pytest.mark.anyio

STEPS = (
    "attach_network",
    "power_on_machines",
    "create_allocation",
    "test_cluster",
    "create_partition",
    "deploy_poplar_servers",
    "check_ipus",
)
BEGUN = """
SELECT EXISTS (SELECT FROM operation_steps
                WHERE operation_id = :operation AND name = :step AND started_at IS NOT NULL)
"""
FAULTS = {
    "link": ("machine", "/v1/machines/{name}/links/internal:fail", {"state": "down"}),
    "machine": ("machine", "/v1/machines/{name}:fail", None),
    "host": ("host", "/v1/hosts/{name}:fail", None),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=4) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, site) as world:
        yield world
        for name in await world.column("SELECT name FROM machines"):
            world.http.post(f"/v1/machines/{name}:repair")
            world.http.post(f"/v1/machines/{name}/links/internal:repair")
        for name in await world.column("SELECT name FROM hosts"):
            world.http.post(f"/v1/hosts/{name}:repair")
        async with world.worker():
            await world.delete_all()
        await world.assert_nothing_left()


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("step", STEPS)
async def test_a_create_goes_on_with_other_hardware(world: SiteWorld, step: str, fault: str) -> None:
    """The hardware fails once the step has begun; what fails after the last look is a fault of a cluster in use."""
    made = await world.create()
    kind, path, body = FAULTS[fault]
    [broken] = await held(world, kind)
    async with world.worker(isolation_after=0.05):
        await until(lambda: world.value(BEGUN, operation=made.operation_id, step=step), f"step {step} begins")
        world.http.post(path.format(name=broken), json=body).raise_for_status()
        await world.succeeded(made)
        if await held(world, kind) == [broken]:
            degraded = "SELECT state = 'degraded' FROM clusters WHERE id = :id"
            await until(lambda: world.value(degraded, id=made.target_id), "the cluster is degraded")
        else:
            await assert_rebuilt(world, made.target_id, 2)
