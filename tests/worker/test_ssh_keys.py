"""Changing the SSH keys of running and suspended clusters, with real logins at the simulated site."""

from __future__ import annotations

import asyncio
from uuid import UUID

import asyncssh
import pytest

from ipucloud.kernel.errors import OPERATION_IN_PROGRESS
from tests.support.breakable import held
from tests.support.machine import Need, needs
from tests.support.world import SiteWorld
from tests.worker.customers import Logins, refused

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]


async def accepted_keys(world: SiteWorld, logins: Logins) -> set[str]:
    """Which keys let their owner log in to the only server."""
    row = await world.one("SELECT * FROM poplar_servers")
    names = set()
    for name in logins.pairs:
        done = await asyncio.to_thread(logins.to(row, name).ssh, "true")
        if done.returncode == 0:
            names.add(name)
        else:
            assert b"Permission denied" in done.stderr
    return names


async def changed(world: SiteWorld) -> UUID:
    """The operation that was opened last."""
    operation: UUID = await world.value(
        "SELECT id FROM operations WHERE kind = 'cluster.update-keys' ORDER BY created_at DESC, id DESC LIMIT 1"
    )
    return operation


async def shown(world: SiteWorld) -> tuple[list[str], list[str] | None]:
    """The keys that the cluster is to have, and those that its server was seen to accept."""
    row = await world.one(
        "SELECT jsonb_path_query_array(c.ssh_keys, '$[*].name') AS desired,"
        " jsonb_path_query_array(s.ssh_keys, '$[*].name') AS accepted"
        " FROM clusters c JOIN poplar_servers s ON s.cluster_id = c.id"
    )
    return row.desired, row.accepted


async def test_a_removed_key_cannot_log_in_and_open_sessions_stay(world: SiteWorld, logins: Logins) -> None:
    ours = logins.pairs["ours"]
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        assert (await accepted_keys(world, logins), await shown(world)) == ({"ours"}, (["ours"], ["ours"]))
        row = await world.one("SELECT * FROM poplar_servers")
        async with asyncssh.connect(
            row.ssh_host, row.ssh_port, username="ubuntu", known_hosts=None, client_keys=[str(ours.private)]
        ) as session:
            # The answer of the site is lost.
            world.fault(call="hosts.put_keys", action="drop_answer", times=1)
            await world.update(cluster, ssh_keys=["theirs"])
            await world.succeeded(await changed(world))
            assert (await accepted_keys(world, logins), await shown(world)) == ({"theirs"}, (["theirs"], ["theirs"]))
            assert (await session.run("echo here", check=True)).stdout == "here\n"
        # A late copy of an earlier request lets nobody in again.
        [host], name = await held(world, "host"), await world.external_name(cluster)
        late = {"server": row.name, "network": name, "ssh_authorized_keys": [ours.public_line], "revision": 1}
        assert world.http.put(f"/v1/hosts/{host}/server/keys", json=late).status_code == 409
        assert await accepted_keys(world, logins) == {"theirs"}
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 1
    assert await world.findings() == []


async def test_a_suspended_cluster_gets_its_keys_when_it_is_resumed(world: SiteWorld, logins: Logins) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours", "theirs"])
        await world.succeeded(await world.suspend(cluster))
        await world.update(cluster, ssh_keys=["theirs"])
        assert await world.value("SELECT count(*) FROM operations WHERE finished_at IS NULL") == 0
        assert await shown(world) == (["theirs"], ["ours", "theirs"])
        await world.succeeded(await world.resume(cluster))
        assert (await accepted_keys(world, logins), await shown(world)) == ({"theirs"}, (["theirs"], ["theirs"]))


async def test_keys_that_a_site_refuses_are_shown_as_not_there_and_can_be_sent_again(
    world: SiteWorld, logins: Logins
) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        world.fault(call="hosts.put_keys", action="status", status=422)
        await world.update(cluster, ssh_keys=["theirs"])
        ended = await world.finished(await changed(world))
        assert (ended.state, ended.error["code"]) == ("failed", "site_refused")
        assert (await accepted_keys(world, logins), await shown(world)) == ({"ours"}, (["theirs"], ["ours"]))
        world.clear_faults()
        await world.update(cluster, ssh_keys=["theirs"])
        await world.succeeded(await changed(world))
        assert (await accepted_keys(world, logins), await shown(world)) == ({"theirs"}, (["theirs"], ["theirs"]))


async def test_the_same_keys_and_a_refused_change_begin_nothing(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
    version = await world.value("SELECT version FROM clusters")
    assert await world.update(cluster, ssh_keys=["ours"]) == version
    assert await world.value("SELECT count(*) FROM operations WHERE kind = 'cluster.update-keys'") == 0
    await world.restart(cluster)
    assert (await refused(world.update(cluster, ssh_keys=["theirs"]))).kind is OPERATION_IN_PROGRESS
    assert await shown(world) == (["ours"], ["ours"])
