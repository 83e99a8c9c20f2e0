"""Rebooting and power-cycling Poplar servers as the worker does it, against the simulated site."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import pytest

from ipucloud.kernel.errors import OPERATION_IN_PROGRESS, STATE_CONFLICT, VALIDATION_FAILED, Problem
from tests.support.invariants import assert_sound
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.world import SiteWorld, open_site_world
from tests.worker.test_observation import observe

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=2, options=["--servers", "1"]) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, site) as world:
        yield world
        world.clear_faults()
        async with world.worker():
            await world.delete_all()
        await world.assert_nothing_left()


def boot(world: SiteWorld) -> tuple[str, str]:
    """The boot id and host key of the only server at the site."""
    hosts = world.site.http().get("/v1/hosts").json()["hosts"]
    [host] = [host for host in hosts if host["server"] is not None]
    shown: dict[str, Any] = world.site.http().get(f"/v1/hosts/{host['name']}").json()
    return shown["boot_id"], "" if shown["ssh"] is None else shown["ssh"]["host_key"]


async def server(world: SiteWorld) -> tuple[str, bool]:
    row = await world.one("SELECT state, boot_before IS NULL AS forgotten FROM poplar_servers")
    return row.state, row.forgotten


async def refusal(world: SiteWorld, cluster: UUID, *servers: str, hard: bool = False) -> object:
    with pytest.raises(Problem) as refused:
        await world.restart(cluster, *servers, hard=hard)
    return refused.value.kind


async def test_a_reboot_happens_once_whatever_becomes_of_its_answer(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        before, key = boot(world)
        [partition] = world.partitions()
        version = await world.value("SELECT version FROM clusters")
        assert await refusal(world, cluster, "another") is VALIDATION_FAILED
        assert await world.value("SELECT version FROM clusters") == version
        # The site reboots and its answer is lost; then a site that cannot be reached at all.
        world.fault(call="hosts.power", action="drop_answer", times=1)
        rebooted = await world.succeeded(await world.restart(cluster))
        after, same = boot(world)
        assert (after != before, same, await server(world)) == (True, key, ("running", True))
        world.clear_faults()
        # A late copy of that request names the boot before it.
        name = (await world.one("SELECT name FROM hosts WHERE id IN (SELECT host_id FROM allocations)")).name
        late = world.site.http().post(f"/v1/hosts/{name}/power", json={"action": "reboot", "boot_id": before})
        assert (late.status_code, boot(world)[0]) == (409, after)
        await world.succeeded(await world.restart(cluster, hard=True))
        assert boot(world)[0] not in {before, after}
    assert rebooted is not None
    assert (await world.value("SELECT state FROM clusters"), world.partitions()) == ("active", [partition])
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 1
    assert await world.value("SELECT count(*) FROM usage_intervals") == 1
    await assert_sound(world.database, world.sites, call_timeout=world.settings.site_call_timeout, but=set())


async def test_repeated_cancelled_and_in_the_way(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
    before, _ = boot(world)
    first = await world.restart(cluster)
    assert await world.restart(cluster) == first
    assert await refusal(world, cluster, hard=True) is OPERATION_IN_PROGRESS
    assert await server(world) == ("rebooting", True)
    await world.cancel(first)
    async with world.worker():
        assert (await world.finished(first)).state == "cancelled"
        assert (boot(world)[0], await server(world)) == (before, ("running", True))
        await world.succeeded(await world.suspend(cluster))
        assert await refusal(world, cluster) is STATE_CONFLICT


async def host_of(world: SiteWorld) -> str:
    name: str = await world.value("SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id")
    return name


async def test_a_server_whose_host_failed_is_not_restarted_until_the_host_works(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
    host = await host_of(world)
    requested = await world.restart(cluster)
    world.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
    async with world.worker():
        ended = await world.finished(requested)
        assert (ended.state, host in ended.error["detail"]) == ("failed", True), ended.error
        assert await server(world) == ("running", True)
        assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 1
        world.http.post(f"/v1/hosts/{host}:repair").raise_for_status()
        await world.succeeded(await world.restart(cluster, hard=True))


async def test_a_server_that_restarts_is_not_reported_as_off(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
    host = await host_of(world)
    requested = await world.restart(cluster)
    off = {"action": "off", "server": await world.value("SELECT name FROM poplar_servers")}
    world.http.post(f"/v1/hosts/{host}/power", json=off).raise_for_status()
    for _ in range(2):
        await observe(world)
    assert await world.column("SELECT code FROM health_reports WHERE cleared_at IS NULL AND host_id IS NOT NULL") == []
    async with world.worker():
        await world.succeeded(requested)
    assert await server(world) == ("running", True)
