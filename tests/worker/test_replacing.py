"""A create or resume whose machine or host fails goes on with another one, which the operation names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.support.breakable import held, open_breakable_world
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

REPORTED = """
SELECT coalesce(m.name, h.name) FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id
  LEFT JOIN hosts h ON h.id = r.host_id
 WHERE r.code = 'build_failed' AND r.cleared_at IS NULL AND NOT coalesce(m.allocatable, h.allocatable) ORDER BY 1
"""

BEGUN_LONG_AGO = """
UPDATE operation_steps SET started_at = app_now() - interval '1 hour'
 WHERE operation_id = :operation AND name = 'power_on_machines'
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=4) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_breakable_world(database, site) as world:
        yield world


async def failed_steps(world: SiteWorld, operation: Any) -> list[str]:
    return await world.column(
        "SELECT concat(name, ': ', detail) FROM operation_steps WHERE operation_id = :id AND state = 'failed'",
        id=operation.operation_id,
    )


async def assert_rebuilt(world: SiteWorld, cluster: Any, incarnation: int) -> None:
    """In use under this incarnation's name, with nothing left of an earlier one and the quota counted once."""
    name = await world.external_name(cluster)
    assert name.endswith(f"-{incarnation}")
    assert [network["name"] for network in world.http.get("/v1/networks").json()["networks"]] == [name]
    assert world.partitions() == [name]
    row = await world.one("SELECT state, machines, blocked_by FROM clusters WHERE id = :id", id=cluster)
    assert (row.state, row.blocked_by) == ("active", None)
    assert await world.value("SELECT sum(used) FROM quotas") == row.machines
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE resource_id = :id", id=cluster) >= 1
    assert await world.findings() == []


async def test_a_machine_that_never_finishes_switching_on_is_replaced(world: SiteWorld) -> None:
    accepted = await world.create()
    [machine] = await held(world, "machine")
    world.http.post(f"/v1/machines/{machine}:hang").raise_for_status()
    await world.execute(BEGUN_LONG_AGO, operation=accepted.operation_id)
    async with world.worker(isolation_after=0.05):
        await world.succeeded(accepted)
        assert machine not in await held(world, "machine")
        assert f"machine {machine} did not switch on within" in "".join(await failed_steps(world, accepted))
        assert machine in await world.column(REPORTED)


BREAKS = {
    "power": ("power_on_machines", "/v1/machines/{machine}:fail", "machine {machine} failed"),
    "link": (
        "test_cluster",
        "/v1/machines/{machine}/links/internal:fail",
        "the internal link between machines {machine} and {machine} is down",
    ),
}


@pytest.mark.parametrize("what", BREAKS)
async def test_a_create_goes_on_with_another_machine(world: SiteWorld, what: str) -> None:
    step, path, sentence = BREAKS[what]
    creation = await world.create()
    [broken] = await held(world, "machine")
    world.http.post(path.format(machine=broken), json={"state": "down"}).raise_for_status()
    async with world.worker():
        await world.succeeded(creation)
        assert await held(world, "machine") != [broken]
        await assert_rebuilt(world, creation.target_id, 2)
        assert await world.column(REPORTED) == [broken]
        [failed] = await failed_steps(world, creation)
        assert failed.startswith(step)
        assert sentence.format(machine=broken) in failed
        event = await world.value("SELECT data FROM events WHERE type = 'cluster.hardware_replaced'")
        assert (event["machines"], event["hosts"]) == ([broken], [])
        await world.build("next")
        assert broken not in await held(world, "machine")


async def test_a_create_goes_on_with_another_host(world: SiteWorld) -> None:
    creation = await world.create()
    [broken] = await held(world, "host")
    world.http.post(f"/v1/hosts/{broken}:fail").raise_for_status()
    async with world.worker(isolation_after=0.05):
        await world.succeeded(creation)
        assert await held(world, "host") != [broken]
        await assert_rebuilt(world, creation.target_id, 2)
        assert await world.column(REPORTED) == [broken]


async def test_a_create_without_other_machines_says_so(world: SiteWorld) -> None:
    creation = await world.create(flavor="m2000-pod16")
    broken = (await held(world, "machine"))[1]
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    async with world.worker():
        operation = await world.finished(creation)
    assert (operation.state, operation.error["code"]) == ("failed", "capacity_exhausted")
    assert f"machine {broken} failed. No other healthy hardware is free: " in operation.error["detail"]
    assert "again" not in operation.error["detail"].partition("No other healthy hardware")[0]
    assert await world.column(REPORTED) == [broken]


async def test_more_hardware_than_the_limit_is_left_to_an_operator(world: SiteWorld) -> None:
    creation = await world.create()
    [broken] = await held(world, "machine")
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    async with world.worker(isolation_limit=0):
        operation = await world.finished(creation)
    assert (operation.state, operation.error["code"]) == ("failed", "provisioning_failed")
    assert f"machine {broken} failed. So much hardware of the region was replaced" in operation.error["detail"]
    assert await world.column(REPORTED) == []


async def test_a_resume_goes_on_with_another_machine(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        server = await world.one("SELECT name, host_key FROM poplar_servers")
        await world.succeeded(await world.suspend(cluster))
    resumed = await world.resume(cluster)
    [broken] = await held(world, "machine")
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    async with world.worker():
        await world.succeeded(resumed)
        assert await held(world, "machine") != [broken]
        await assert_rebuilt(world, cluster, 3)
        assert await world.one("SELECT name, host_key FROM poplar_servers") == server


async def test_a_delete_replaces_a_create_that_exchanges_its_hardware(world: SiteWorld) -> None:
    creation = await world.create()
    [broken] = await held(world, "machine")
    world.http.post(f"/v1/machines/{broken}:fail").raise_for_status()
    async with world.worker(request_life=3600.0):
        await world.reached(creation, "verify_clean")
        await world.delete(creation.target_id)
    async with world.worker():
        await world.finished(await world.delete(creation.target_id))
    assert await world.value("SELECT sum(used) FROM quotas") == 0
