"""Snapshots of Poplar servers: taken of one that runs, the image of others, with real logins at a simulated site."""

from __future__ import annotations

from functools import partial
from uuid import UUID

import pytest

from ipucloud.clusters.volumes.snapshots import store
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS
from ipucloud.contract.snapshots import SnapshotCreate
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.errors import IN_USE
from tests.support.breakable import open_breakable_world
from tests.support.machine import Need, needs
from tests.support.snapshots import offer_snapshots
from tests.support.world import IMAGE, SiteWorld
from tests.worker.customers import Customer, Logins, refused

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]

SITE = {"machines": 4, "options": ["--servers", "2"]}
WORLD = partial(open_breakable_world, isolation_after=0.05)


class SnapshotCustomer(Customer):
    """A customer who logs in to servers and takes snapshots of them."""

    async def take(self, cluster: UUID, name: str = "env") -> UUID:
        body = SnapshotCreate(name=name, cluster=cluster)
        snapshot: UUID = await self.requested(lambda on, by: store.create(on, by, body, settings=self.world.settings))
        return snapshot

    async def run(self, cluster: UUID, command: str) -> str:
        row = await self.world.one("SELECT * FROM poplar_servers WHERE cluster_id = :id", id=cluster)
        return await self.logins.run(row, command)


@pytest.fixture
async def customer(world: SiteWorld, logins: Logins) -> SnapshotCustomer:
    async with world.database.begin() as connection:
        await offer_snapshots(connection)
    return SnapshotCustomer(world, logins, SNAPSHOTS)


async def test_servers_are_made_from_a_snapshot_and_written_again_with_it(
    world: SiteWorld, customer: SnapshotCustomer
) -> None:
    async with world.worker():
        first = await world.build(ssh_keys=["ours"])
        await customer.run(first, "mkdir -p ~/env && echo tuned > ~/env/settings && ln -s settings ~/env/latest")
        for call in ("snapshots.put", "snapshots.delete"):
            world.fault(call=call, action="drop_answer", times=1)
        snapshot = await customer.take(first)
        await customer.state(snapshot, "available")
        billed = "SELECT quantity, ended_at IS NULL FROM usage_intervals WHERE sku = 'snapshot-gib'"
        assert [tuple(row) for row in await world.rows(billed)] == [(1, True)]
        await customer.run(first, "echo spoilt > ~/env/settings; echo mine > ~/notes")
        second = await world.build("second", ssh_keys=["ours"], image="env")
        assert await customer.run(second, "cat ~/env/latest") == "tuned\n"
        assert (await refused(customer.delete(snapshot))).kind is IN_USE
        # On the first one: the files of home stay, or all is as it was copied.
        await world.succeeded(await world.rebuild(first, disk="keep", image="env"))
        assert await customer.run(first, "cat ~/env/latest ~/notes") == "spoilt\nmine\n"
        await world.succeeded(await world.rebuild(first, disk="wipe", image="env"))
        assert await customer.run(first, "cat ~/env/latest; ls ~") == "tuned\nenv\n"
        await world.succeeded(await world.rebuild(first, disk="wipe", image=IMAGE))
        assert await customer.run(first, "ls ~") == ""
        # It is on other hardware what it was here.
        await world.succeeded(await world.suspend(second))
        await world.succeeded(await world.resume(second))
        assert await customer.run(second, "cat ~/env/latest") == "tuned\n"
        await world.succeeded(await world.delete(second))
        await customer.delete(snapshot)
        await customer.state(snapshot, "deleted")
    name = await world.value("SELECT external_name FROM snapshots")
    assert world.http.get(f"/v1/snapshots/{name}").status_code == 404
    types = await world.column("SELECT type FROM events WHERE subject_type = 'snapshot' ORDER BY id")
    assert types == ["snapshot.created", "snapshot.available", "snapshot.deleted"]


async def test_a_server_that_is_built_again_on_another_host_is_made_from_its_snapshot(
    world: SiteWorld, customer: SnapshotCustomer
) -> None:
    async with world.worker():
        first = await world.build(ssh_keys=["ours"])
        await customer.run(first, "echo tuned > ~/settings")
        await customer.state(await customer.take(first), "available")
        second = await world.build("second", ssh_keys=["ours"], image="env")
        await customer.run(second, "echo spoilt > ~/settings")
        await world.succeeded(await world.delete(first))
        [broken] = await world.column(
            "SELECT h.name FROM allocations a JOIN hosts h ON h.id = a.host_id WHERE a.freed_at IS NULL"
        )
        world.http.post(f"/v1/hosts/{broken}:fail").raise_for_status()
        await world.fail(second, Code.HOST_FAILED, kind="host")
        await world.succeeded(await world.replace_hardware(second))
        assert await customer.run(second, "cat ~/settings") == "tuned\n"


async def test_a_snapshot_of_a_server_that_is_gone_before_it_is_taken_is_not_billed(
    world: SiteWorld, customer: SnapshotCustomer
) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        world.fault(call="snapshots.put", action="status", status=503)
        snapshot = await customer.take(cluster)
        await world.hit("snapshots.put")
        await world.succeeded(await world.delete(cluster))
        world.clear_faults()
        await customer.state(snapshot, "error")
        await customer.delete(snapshot)
        await customer.state(snapshot, "deleted")
    assert await world.value("SELECT count(*) FROM usage_intervals WHERE sku = 'snapshot-gib'") == 0
