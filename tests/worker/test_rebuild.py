"""Writing Poplar servers again as the worker does it, with real logins at the simulated site."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.breakable import held
from tests.support.catalogues import OTHER_IMAGE, with_other_image
from tests.support.machine import Need, needs
from tests.support.site import SECURE
from tests.support.world import IMAGE, SiteWorld
from tests.support.world.customer import REGION
from tests.worker.customers import Logins, refused

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]

SITE = {"machines": 32, "options": [*SECURE, "--servers", "1"]}
BILLED = "SELECT count(*), count(*) FILTER (WHERE ended_at IS NULL) FROM usage_intervals"


@pytest.fixture
def world(world: SiteWorld) -> SiteWorld:
    world.catalogue = with_other_image(world.catalogue, REGION)
    return world


async def host_of(world: SiteWorld) -> dict[str, Any]:
    """The first Poplar server's host, as the site shows it."""
    [name, *_] = await held(world, "host")
    host: dict[str, Any] = world.http.get(f"/v1/hosts/{name}").json()
    return host


SERVERS = "SELECT * FROM poplar_servers ORDER BY ordinal"


async def cluster_row(world: SiteWorld) -> tuple[str, str, str | None]:
    row = await world.one("SELECT state, image, user_data FROM clusters")
    return row.state, row.image, row.user_data


async def test_a_wiped_disk_is_empty_and_partitions_stay(world: SiteWorld, logins: Logins) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"], user_data="#cloud-config\n{}")
        server = logins.to(await world.one(SERVERS))
        await server.output("echo work > notes; echo kept > /tmp/scratch")
        partitions, before = world.partitions(), await host_of(world)
        # The site writes the server, and the answer is lost.
        world.fault(call="hosts.rebuild", action="drop_answer", times=1)
        rebuilt = await world.rebuild(cluster, image=OTHER_IMAGE, user_data=None, ssh_keys=["theirs"])
        assert (await world.one("SELECT state FROM clusters")).state == "rebuilding"
        assert tuple(await world.one(BILLED)) == (1, 0)
        await world.succeeded(rebuilt)
        after = await host_of(world)
        assert await cluster_row(world) == ("active", OTHER_IMAGE, None)
        assert (after["server"]["image"], after["server"]["user_data"]) == (OTHER_IMAGE, None)
        assert (after["ssh"]["port"], after["server"]["name"]) == (before["ssh"]["port"], before["server"]["name"])
        assert after["ssh"]["host_key"] != before["ssh"]["host_key"]
        again = logins.to(await world.one(SERVERS), "theirs")
        assert set((await again.output("ls -a $HOME; ls /tmp")).split()) - {".", ".."} == {".ipuof.conf.d"}
        assert "Multi IPU" in await again.output("gc-info -l")
        # A late copy of the request, and one of an earlier generation, do nothing.
        spec = after["server"] | {"ssh_authorized_keys": before["server"]["ssh_authorized_keys"]}
        for generation in (1, 2):
            body = {"server": spec | {"generation": generation}, "disk": "wipe"}
            late = world.http.post(f"/v1/hosts/{after['name']}/server/rebuild", json=body)
            assert (late.status_code, (await host_of(world))["boot_id"]) == (409, after["boot_id"])
    assert world.partitions() == partitions
    assert tuple(await world.one(BILLED)) == (2, 1)
    [rebuilt_event] = await world.column("SELECT data FROM events WHERE type = 'cluster.servers_rebuilt'")
    assert rebuilt_event == {"servers": [after["server"]["name"]], "image": OTHER_IMAGE, "disk": "wipe"}
    assert await world.findings() == []


async def test_a_kept_disk_has_its_home_and_host_key(world: SiteWorld, logins: Logins) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        server = logins.to(await world.one(SERVERS))
        await server.output("mkdir data; echo work > data/notes; echo gone > /tmp/scratch")
        before = await host_of(world)
        await world.succeeded(await world.rebuild(cluster, disk="keep"))
        assert await server.output("cat data/notes; ls /tmp") == "work\n"
        after = await host_of(world)
        assert (after["ssh"], after["server"]["image"]) == (before["ssh"], IMAGE)
        await world.succeeded(await world.rebuild(cluster, disk="keep", image=OTHER_IMAGE))
        assert await server.output("cat data/notes") == "work\n"
    assert await cluster_row(world) == ("active", OTHER_IMAGE, None)
    assert await world.findings() == []


async def test_a_refused_rebuild_leaves_the_cluster_as_it_was_and_can_be_asked_for_again(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        before = await host_of(world)
        world.fault(call="hosts.rebuild", action="status", status=422)
        ended = await world.finished(await world.rebuild(cluster, image=OTHER_IMAGE))
        assert (ended.state, ended.error["code"]) == ("failed", "site_refused")
        assert (await host_of(world))["boot_id"] == before["boot_id"]
        assert await cluster_row(world) == ("active", IMAGE, None)
        assert tuple(await world.one(BILLED)) == (2, 1)
        world.clear_faults()
        await world.succeeded(await world.rebuild(cluster, image=OTHER_IMAGE))
        assert await cluster_row(world) == ("active", OTHER_IMAGE, None)
    assert await world.findings() == []


async def test_some_servers_of_several_are_written_while_the_others_go_on(world: SiteWorld, logins: Logins) -> None:
    async with world.worker():
        cluster = await world.build(flavor="m2000-pod128", ssh_keys=["ours"])
        first, second = await world.rows(SERVERS)
        await logins.run(second, "echo work > notes")
        problem = await refused(world.rebuild(cluster, poplar_servers=[first.name], image=OTHER_IMAGE))
        assert [fault.code for fault in problem.errors] == ["needs_all_servers"]
        rebuilt = await world.rebuild(cluster, poplar_servers=[first.name])
        assert (await world.one("SELECT state FROM clusters")).state == "active"
        assert await world.column("SELECT state FROM poplar_servers ORDER BY ordinal") == ["rebuilding", "running"]
        await world.succeeded(rebuilt)
        now_first, now_second = await world.rows(SERVERS)
        assert (now_first.state, now_second.state) == ("running", "running")
        assert now_first.host_key != first.host_key
        assert await logins.run(now_second, "cat notes") == "work\n"
        await logins.run(now_first, "true")
    assert tuple(await world.one(BILLED)) == (1, 1)
    assert await world.findings() == []
