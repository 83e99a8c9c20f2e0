"""Rebooting and power-cycling Poplar servers as the worker does it, against the simulated site."""

from __future__ import annotations

from typing import Any

import pytest

from ipucloud.kernel.errors import OPERATION_IN_PROGRESS, STATE_CONFLICT, VALIDATION_FAILED
from tests.support.breakable import held
from tests.support.world import SiteWorld
from tests.worker.customers import refused
from tests.worker.test_observation import observe

pytestmark = pytest.mark.anyio


def boot(world: SiteWorld) -> tuple[str, str]:
    """The boot id and host key of the only server at the site."""
    hosts = world.site.http().get("/v1/hosts").json()["hosts"]
    [host] = [host for host in hosts if host["server"] is not None]
    shown: dict[str, Any] = world.site.http().get(f"/v1/hosts/{host['name']}").json()
    return shown["boot_id"], "" if shown["ssh"] is None else shown["ssh"]["host_key"]


async def server(world: SiteWorld) -> tuple[str, bool]:
    row = await world.one("SELECT state, boot_before IS NULL AS forgotten FROM poplar_servers")
    return row.state, row.forgotten


async def test_a_reboot_happens_once_whatever_becomes_of_its_answer(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        before, key = boot(world)
        [partition] = world.partitions()
        version = await world.value("SELECT version FROM clusters")
        assert (await refused(world.restart(cluster, "another"))).kind is VALIDATION_FAILED
        assert await world.value("SELECT version FROM clusters") == version
        # The site reboots and its answer is lost; then a site that cannot be reached at all.
        world.fault(call="hosts.power", action="drop_answer", times=1)
        await world.succeeded(await world.restart(cluster))
        after, same = boot(world)
        assert (after != before, same, await server(world)) == (True, key, ("running", True))
        world.clear_faults()
        # A late copy of that request names the boot before it.
        [name] = await held(world, "host")
        late = world.site.http().post(f"/v1/hosts/{name}/power", json={"action": "reboot", "boot_id": before})
        assert (late.status_code, boot(world)[0]) == (409, after)
        await world.succeeded(await world.restart(cluster, hard=True))
        assert boot(world)[0] not in {before, after}
    assert (await world.value("SELECT state FROM clusters"), world.partitions()) == ("active", [partition])
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 1
    assert await world.value("SELECT count(*) FROM usage_intervals") == 1
    assert await world.findings() == []


async def test_repeated_cancelled_and_in_the_way(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
    before, _ = boot(world)
    first = await world.restart(cluster)
    assert await world.restart(cluster) == first
    assert (await refused(world.restart(cluster, hard=True))).kind is OPERATION_IN_PROGRESS
    assert await server(world) == ("rebooting", True)
    await world.cancel(first)
    async with world.worker():
        assert (await world.finished(first)).state == "cancelled"
        assert (boot(world)[0], await server(world)) == (before, ("running", True))
        await world.succeeded(await world.suspend(cluster))
        assert (await refused(world.restart(cluster))).kind is STATE_CONFLICT


async def test_a_server_that_restarts_is_not_reported_as_off(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
    [host] = await held(world, "host")
    requested = await world.restart(cluster)
    off = {"action": "off", "server": await world.value("SELECT name FROM poplar_servers")}
    world.http.post(f"/v1/hosts/{host}/power", json=off).raise_for_status()
    for _ in range(2):
        await observe(world)
    assert await world.column("SELECT code FROM health_reports WHERE cleared_at IS NULL AND host_id IS NOT NULL") == []
    async with world.worker():
        await world.succeeded(requested)
    assert await server(world) == ("running", True)
