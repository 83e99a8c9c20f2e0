"""Volumes at a simulated site: made, attached, kept through suspend and the end of clusters, grown, copied, deleted."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from ipucloud.clusters.volumes import store
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.clusters.volumes.snapshots import store as snapshots
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS
from ipucloud.contract.snapshots import SnapshotCreate
from ipucloud.contract.volumes import VolumeAttach, VolumeCreate, VolumeResize
from ipucloud.kernel.errors import IN_USE, QUOTA_EXCEEDED, STATE_CONFLICT, VALIDATION_FAILED
from tests.support.machine import Need, needs
from tests.support.snapshots import offer_snapshots
from tests.support.volumes import offer_volumes
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker.customers import Customer, Logins, refused

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]


class VolumeCustomer(Customer):
    """A customer with volumes, who logs in to the only server."""

    async def create(self, name: str = "data", gib: int = 10, *, snapshot: str | None = None) -> UUID:
        body = VolumeCreate(name=name, region="luxembourg-2", size_gib=gib, snapshot=snapshot)
        volume: UUID = await self.requested(
            lambda on, by: store.create(on, by, body, catalogue=self.world.catalogue, settings=self.world.settings)
        )
        return volume

    async def take(self, name: str, volume: UUID) -> UUID:
        body = SnapshotCreate(name=name, volume=str(volume))
        snapshot: UUID = await self.requested(
            lambda on, by: snapshots.create(on, by, body, settings=self.world.settings)
        )
        return snapshot

    async def copied(self, snapshot: UUID, state: str) -> None:
        await self.state(snapshot, state, "snapshots")

    async def attach(self, volume: UUID, cluster: UUID) -> None:
        await self.requested(lambda on, by: VOLUMES.attach(on, by, volume, VolumeAttach(cluster=cluster)))

    async def resize(self, volume: UUID, gib: int) -> None:
        body = VolumeResize(size_gib=gib)
        await self.requested(lambda on, by: store.resize(on, by, volume, body, settings=self.world.settings))

    async def detach(self, volume: UUID) -> None:
        await self.requested(lambda on, by: VOLUMES.detach(on, by, volume))

    async def detached_and_deleted(self, volume: UUID) -> None:
        await self.detach(volume)
        await self.state(volume, "available")
        await self.delete(volume)
        await self.state(volume, "deleted")

    async def prepared(self, name: str = "data", *, attached_to: UUID | None = None, **more: Any) -> UUID:
        """A volume that is there, and at a cluster's server if one is named."""
        volume = await self.create(name, **more)
        await self.state(volume, "available")
        if attached_to is not None:
            await self.attach(volume, attached_to)
            await self.state(volume, "attached")
        return volume

    async def run(self, command: str) -> str:
        row = await self.world.one("SELECT * FROM poplar_servers WHERE state = 'running'")
        return await self.logins.run(row, command)

    async def billed(self, kind: str = "volume") -> list[tuple[int, bool]]:
        rows = await self.world.rows(
            "SELECT u.quantity, u.ended_at IS NOT NULL AS ended FROM usage_intervals u"
            " JOIN resources r ON r.id = u.resource_id WHERE r.kind = :kind ORDER BY u.started_at, u.quantity",
            kind=kind,
        )
        return [(row.quantity, row.ended) for row in rows]


@pytest.fixture
async def customer(world: SiteWorld, logins: Logins) -> VolumeCustomer:
    async with world.database.begin() as connection:
        await offer_volumes(connection)
        await offer_snapshots(connection)
    return VolumeCustomer(world, logins, VOLUMES)


async def test_files_outlive_their_server_and_their_cluster(world: SiteWorld, customer: VolumeCustomer) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        # The answers of the site are lost: each request is repeated, and finds what it did before.
        for call in ("volumes.put", "volumes.attach", "volumes.delete"):
            world.fault(call=call, action="drop_answer", times=1)
        volume = await customer.prepared()
        assert await customer.billed() == [(10, False)]
        await customer.attach(volume, cluster)
        await customer.state(volume, "attached")
        await customer.run("echo weights > /volumes/data/model")
        assert (await refused(customer.delete(volume))).kind is IN_USE
        # It stays attached while the cluster is suspended, and after the site was killed.
        await world.succeeded(await world.suspend(cluster))
        world.site.kill()
        world.site.start()
        await world.succeeded(await world.resume(cluster))
        await customer.state(volume, "attached")
        assert await customer.run("cat /volumes/data/model") == "weights\n"
        # A server that is rebuilt has it again.
        await world.succeeded(await world.rebuild(cluster, disk="wipe"))
        again = "SELECT state = 'attached' AND revision > 1 FROM volumes"
        await until(lambda: world.value(again), "the volume is attached again")
        assert await customer.run("cat /volumes/data/model") == "weights\n"
        await world.succeeded(await world.delete(cluster))
        await customer.state(volume, "available")
        second = await world.build("second", ssh_keys=["ours"])
        await customer.attach(volume, second)
        await customer.state(volume, "attached")
        assert await customer.run("cat /volumes/data/model") == "weights\n"
        await customer.detach(volume)
        await customer.state(volume, "available")
        assert await customer.run("ls /volumes") == ""
        await customer.delete(volume)
        assert await customer.billed() == [(10, True)]
        await customer.state(volume, "deleted")
    name = await world.value("SELECT external_name FROM volumes")
    assert world.http.get(f"/v1/volumes/{name}").status_code == 404
    late = {"region": "luxembourg-2", "size_gib": 10}
    assert world.http.put(f"/v1/volumes/{name}", json=late).status_code == 422, "a late request makes no volume"
    assert await customer.events() == [
        "volume.created",
        "volume.available",
        *["volume.attached"] * 2,
        "volume.detached",
        "volume.attached",
        "volume.detached",
        "volume.deleted",
    ]


async def test_a_volume_grows_while_it_is_attached_and_is_billed_for_each_size(
    world: SiteWorld, customer: VolumeCustomer
) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        volume = await customer.prepared(attached_to=cluster)
        await customer.run("echo weights > /volumes/data/model")
        await customer.resize(volume, 40)
        await customer.state(volume, "attached")
        assert await customer.billed() == [(10, True), (40, False)]
        assert await customer.run("cat /volumes/data/model") == "weights\n"
        _, shown = (await customer.run("cd /volumes/data && df -k .")).splitlines()
        kind, size, used, left, _, mount = shown.split()
        assert (kind, size, mount) == ("volume", str(40 << 20), "/volumes/data")
        assert (int(used) > 0, int(left)) == (True, (40 << 20) - int(used))
        assert "40G" in await customer.run("df -h")
        # All else is of the machine.
        assert "volume" not in await customer.run("df --output=target / && df -k ~")
        assert (await refused(customer.resize(volume, 20))).kind is VALIDATION_FAILED
        assert (await refused(customer.resize(volume, 20_000))).kind is QUOTA_EXCEEDED
        await customer.detached_and_deleted(volume)
    spans = await world.rows(
        "SELECT anchor_at, started_at, ended_at FROM usage_intervals WHERE sku = 'volume-gib' ORDER BY started_at"
    )
    assert spans[0].ended_at == spans[1].started_at
    assert spans[0].anchor_at == spans[1].anchor_at


async def test_a_new_cluster_has_its_volumes_when_it_is_active(world: SiteWorld, customer: VolumeCustomer) -> None:
    async with world.worker():
        first, second = await customer.prepared("first"), await customer.prepared("second")
        world.fault(call="volumes.attach", action="drop_answer", times=1)
        cluster = await world.build(
            ssh_keys=["ours"], volumes=[{"volume": "first"}, {"volume": str(second), "server": 0}]
        )
        # In the commit that made it active, and not later.
        attached = await world.column("SELECT created_at FROM events WHERE type = 'volume.attached' ORDER BY id")
        [active] = await world.column("SELECT created_at FROM events WHERE type = 'cluster.active'")
        assert len(attached) == 2
        assert max(attached) <= active
        await customer.run("echo weights > /volumes/first/model")
        assert await customer.run("ls /volumes") == "first\nsecond\n"
        await world.succeeded(await world.delete(cluster))
        await customer.state(first, "available")
        await customer.state(second, "available")
        await world.build("again", ssh_keys=["ours"], volumes=[{"volume": "first"}])
        assert await customer.run("cat /volumes/first/model") == "weights\n"
    steps = await world.column(
        "SELECT s.name FROM operation_steps s JOIN operations o ON o.id = s.operation_id"
        " WHERE o.cluster_id = :id AND o.kind = 'cluster.create' ORDER BY s.ordinal",
        id=cluster,
    )
    assert steps[-2:] == ["attach_volumes", "check_ipus"]


@pytest.mark.parametrize("end", ["delete", "cancel", "failure"])
async def test_a_create_that_does_not_succeed_leaves_its_volume_free(
    world: SiteWorld, customer: VolumeCustomer, end: str
) -> None:
    async with world.worker():
        volume = await customer.prepared()
        cluster = await world.build("writer", ssh_keys=["ours"], volumes=[{"volume": "data"}])
        await customer.run("echo weights > /volumes/data/model")
        await world.succeeded(await world.delete(cluster))
        await customer.state(volume, "available")
        refused = end == "failure"
        world.fault(
            call="hosts.put_server" if refused else "volumes.attach", action="status", status=422 if refused else 503
        )
        creation = await world.create("second", ssh_keys=["ours"], volumes=[{"volume": "data"}])
        if refused:
            assert (await world.finished(creation)).state == "failed"
            await customer.state(volume, "available")
            await world.delete(creation.target_id)
        else:
            await world.hit("volumes.attach")
        if end == "cancel":
            assert await world.cancel(creation)
        if end == "delete":
            await world.delete(creation.target_id)
        world.clear_faults()
        await customer.state(volume, "available")
        third = await world.build("third", ssh_keys=["ours"], volumes=[{"volume": "data"}])
        assert await customer.run("cat /volumes/data/model") == "weights\n"
        assert await world.value("SELECT cluster_id FROM volumes") == third


async def test_a_volume_that_the_site_refuses_is_not_billed(world: SiteWorld, customer: VolumeCustomer) -> None:
    world.fault(call="volumes.put", action="status", status=422, times=1)
    async with world.worker():
        volume = await customer.create()
        await customer.state(volume, "error")
        assert await customer.billed() == []
        cluster = await world.build(ssh_keys=["ours"])
        assert (await refused(customer.attach(volume, cluster))).kind is STATE_CONFLICT
        await customer.delete(volume)
        await customer.state(volume, "deleted")
    shown = await world.value("SELECT data FROM events WHERE type = 'volume.failed'")
    assert shown["reason"].startswith("The site refused")


async def test_a_volume_is_made_from_a_snapshot_of_another(world: SiteWorld, customer: VolumeCustomer) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        for call in ("snapshots.put", "snapshots.delete"):
            world.fault(call=call, action="drop_answer", times=1)
        volume = await customer.prepared(attached_to=cluster)
        await customer.run("echo weights > /volumes/data/model; ln -s model /volumes/data/latest")
        snapshot = await customer.take("before", volume)
        await customer.copied(snapshot, "available")
        assert await customer.billed("snapshot") == [(10, False)]
        await customer.run("echo spoilt > /volumes/data/model")
        # It needs its volume no longer.
        await customer.detached_and_deleted(volume)
        restored = await customer.prepared("again", gib=20, snapshot="before")
        await customer.requested(lambda on, by: SNAPSHOTS.delete(on, by, snapshot))
        assert await customer.billed("snapshot") == [(10, True)]
        await customer.copied(snapshot, "deleted")
        await customer.attach(restored, cluster)
        await customer.state(restored, "attached")
        assert await customer.run("cat /volumes/again/latest") == "weights\n"
        await customer.detached_and_deleted(restored)
    name = await world.value("SELECT external_name FROM snapshots")
    assert world.http.get(f"/v1/snapshots/{name}").status_code == 404
    types = await world.column("SELECT type FROM events WHERE subject_type = 'snapshot' ORDER BY id")
    assert types == ["snapshot.created", "snapshot.available", "snapshot.deleted"]


async def test_a_snapshot_that_the_site_refuses_is_not_billed(world: SiteWorld, customer: VolumeCustomer) -> None:
    world.fault(call="snapshots.put", action="status", status=422, times=1)
    async with world.worker():
        volume = await customer.prepared()
        snapshot = await customer.take("before", volume)
        await customer.copied(snapshot, "error")
        assert await customer.billed("snapshot") == []
        await customer.requested(lambda on, by: SNAPSHOTS.delete(on, by, snapshot))
        await customer.copied(snapshot, "deleted")
        await customer.delete(volume)
        await customer.state(volume, "deleted")
    shown = await world.value("SELECT data FROM events WHERE type = 'snapshot.failed'")
    assert shown["reason"].startswith("The site refused")
