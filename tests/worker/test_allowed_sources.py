"""From where servers are logged in to: a worker, a simulated site, and real clients at several addresses."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

from tests.support.machine import Need, needs
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker.customers import Logins

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]

OFFICE, HOME = "127.0.0.2", "127.0.0.3"


async def sources(world: SiteWorld, logins: Logins) -> set[str]:
    """From where the only server is logged in to."""
    row = await world.one("SELECT * FROM poplar_servers")
    entered = set()
    for source in (OFFICE, HOME):
        done = await asyncio.to_thread(logins.to(row).ssh, "true", flags=("-b", source))
        if done.returncode == 0:
            entered.add(source)
        else:
            assert b"Permission denied" not in done.stderr, "it is refused before anybody logs in"
    return entered


async def shown(world: SiteWorld, cluster: UUID) -> tuple[list[str], dict[str, Any] | None]:
    """What the cluster is to have, and what its site was seen to enforce, without the time."""
    document = await world.cluster(cluster)
    [server] = document["poplar_servers"]
    access = server["ssh_access"]
    if access is not None:
        assert access.pop("observed_at") is not None
    return document["allowed_sources"], access


async def enforced(world: SiteWorld, cluster: UUID) -> None:
    async def current() -> bool:
        _, access = await shown(world, cluster)
        return access is not None and bool(access["current"])

    await until(current, "the site enforces the allowed sources")


async def test_a_list_is_enforced_from_the_first_moment_on_and_changed_beside_operations(
    world: SiteWorld, logins: Logins
) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"], allowed_sources=[OFFICE])
        assert await sources(world, logins) == {OFFICE}
        await enforced(world, cluster)
        assert await shown(world, cluster) == ([OFFICE + "/32"], {"allowed_sources": [OFFICE + "/32"], "current": True})
        world.fault(call="hosts.put_sources", action="drop_answer", times=1)
        await world.update(cluster, allowed_sources=[HOME])
        await enforced(world, cluster)
        assert await sources(world, logins) == {HOME}
        # While the servers restart, too: what comes back has the list of that moment.
        restart = await world.restart(cluster)
        await world.update(cluster, allowed_sources=["127.0.0.0/8"])
        await world.succeeded(restart)
        await enforced(world, cluster)
        assert await sources(world, logins) == {OFFICE, HOME}
        await world.update(cluster, allowed_sources=[])
        await enforced(world, cluster)
        assert await shown(world, cluster) == ([], {"allowed_sources": [], "current": True})
    assert await world.findings() == []


async def test_a_suspended_or_rebuilt_server_comes_back_with_the_present_list(world: SiteWorld, logins: Logins) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        assert await shown(world, cluster) == ([], None)
        assert await sources(world, logins) == {OFFICE, HOME}
        await world.succeeded(await world.suspend(cluster))
        await world.update(cluster, allowed_sources=[OFFICE])
        await world.succeeded(await world.resume(cluster))
        assert await sources(world, logins) == {OFFICE}
        await world.succeeded(await world.rebuild(cluster, disk="wipe"))
        assert await sources(world, logins) == {OFFICE}
        await enforced(world, cluster)
