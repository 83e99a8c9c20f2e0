"""Volumes at a simulated site: made, attached, kept through suspend and the end of clusters, grown, copied, deleted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.volumes import store
from ipucloud.clusters.volumes.snapshots import store as snapshots
from ipucloud.contract.snapshots import SnapshotCreate
from ipucloud.contract.volumes import VolumeAttach, VolumeCreate, VolumeResize
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import IN_USE, QUOTA_EXCEEDED, STATE_CONFLICT, VALIDATION_FAILED, ErrorCode, Problem
from tests.support.factories import make_ssh_key, seed_prices
from tests.support.machine import Need, needs
from tests.support.openssh import KeyPair, OpenSsh, make_key
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world

pytestmark = [
    pytest.mark.anyio,
    needs(Need.OPENSSH),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=2, options=["--servers", "1"]) as site:
        yield site


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> KeyPair:
    return make_key(tmp_path_factory.mktemp("keys"), "ours")


@pytest.fixture
async def world(database: Scratch, site: RunningSite, pair: KeyPair) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, site) as world:
        async with world.database.begin() as connection:
            await make_ssh_key(connection, world.project.id, "ours", pair.public_line)
            for sku in ("volume-gib", "snapshot-gib"):
                await seed_prices(connection, {(sku, "luxembourg-2"): Decimal("0.0000022831")})
        yield world
        world.clear_faults()
        async with world.worker():
            await world.delete_all()
        await world.assert_nothing_left()


@dataclass
class Desk:
    """A customer with volumes, who logs in to the only server."""

    world: SiteWorld
    pair: KeyPair
    folder: Path

    @property
    def actor(self) -> Actor:
        return self.world.project.actor

    async def requested(self, effect: Callable[[AsyncConnection, Actor], Awaitable[Any]]) -> Any:
        async with self.world.database.begin() as connection:
            return await effect(connection, self.actor)

    async def create(self, name: str = "data", gib: int = 10, *, snapshot: str | None = None) -> UUID:
        body = VolumeCreate(name=name, region="luxembourg-2", size_gib=gib, snapshot=snapshot)
        made: UUID = await self.requested(
            lambda on, by: store.create(on, by, body, catalogue=self.world.catalogue, settings=self.world.settings)
        )
        return made

    async def take(self, name: str, volume: UUID) -> UUID:
        body = SnapshotCreate(name=name, volume=str(volume))
        made: UUID = await self.requested(lambda on, by: snapshots.create(on, by, body, settings=self.world.settings))
        return made

    async def copied(self, snapshot: UUID, state: str) -> None:
        async def reached() -> bool:
            return bool(await self.world.value("SELECT state FROM snapshots WHERE id = :id", id=snapshot) == state)

        await until(reached, f"the snapshot is {state}")

    async def attach(self, volume: UUID, cluster: UUID) -> None:
        await self.requested(lambda on, by: store.attach(on, by, volume, VolumeAttach(cluster=cluster)))

    async def resize(self, volume: UUID, gib: int) -> None:
        body = VolumeResize(size_gib=gib)
        await self.requested(lambda on, by: store.resize(on, by, volume, body, settings=self.world.settings))

    async def detach(self, volume: UUID) -> None:
        await self.requested(lambda on, by: store.detach(on, by, volume))

    async def delete(self, volume: UUID) -> None:
        await self.requested(lambda on, by: store.delete(on, by, volume))

    async def state(self, volume: UUID, state: str) -> None:
        async def reached() -> bool:
            return bool(await self.world.value("SELECT state FROM volumes WHERE id = :id", id=volume) == state)

        await until(reached, f"the volume is {state}")

    async def refused(self, effect: Awaitable[Any]) -> ErrorCode:
        with pytest.raises(Problem) as problem:
            await effect
        return problem.value.kind

    async def run(self, command: str) -> str:
        row = await self.world.one("SELECT * FROM poplar_servers WHERE state = 'running'")
        done = await asyncio.to_thread(OpenSsh.to(row, self.pair, self.folder).ssh, command)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    async def billed(self, kind: str = "volume_id") -> list[tuple[int, bool]]:
        rows = await self.world.rows(
            f"SELECT quantity, ended_at IS NOT NULL AS ended FROM usage_intervals WHERE {kind} IS NOT NULL"  # noqa: S608
            " ORDER BY started_at, quantity"
        )
        return [(row.quantity, row.ended) for row in rows]

    async def events(self) -> list[str]:
        return await self.world.column("SELECT type FROM events WHERE subject_type = 'volume' ORDER BY id")


@pytest.fixture
def desk(world: SiteWorld, pair: KeyPair, tmp_path: Path) -> Desk:
    return Desk(world, pair, tmp_path)


async def test_files_outlive_their_server_and_their_cluster(world: SiteWorld, desk: Desk, site: RunningSite) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        # The answers of the site are lost: each request is repeated, and finds what it did before.
        for call in ("volumes.put", "volumes.attach", "volumes.delete"):
            world.fault(call=call, action="drop_answer", times=1)
        volume = await desk.create()
        await desk.state(volume, "available")
        assert await desk.billed() == [(10, False)]
        await desk.attach(volume, cluster)
        await desk.state(volume, "attached")
        await desk.run("echo weights > /volumes/data/model")
        assert await desk.refused(desk.delete(volume)) is IN_USE
        # It stays attached while the cluster is suspended, and after the site was killed.
        await world.succeeded(await world.suspend(cluster))
        site.kill()
        site.start()
        await world.succeeded(await world.resume(cluster))
        await desk.state(volume, "attached")
        assert await desk.run("cat /volumes/data/model") == "weights\n"
        # A server that is rebuilt has it again.
        await world.succeeded(await world.rebuild(cluster, disk="wipe"))

        async def attached_anew() -> bool:
            row = await world.one("SELECT state, revision FROM volumes")
            return bool(row.state == "attached" and row.revision > 1)

        await until(attached_anew, "the volume is attached again")
        assert await desk.run("cat /volumes/data/model") == "weights\n"
        await world.succeeded(await world.delete(cluster))
        await desk.state(volume, "available")
        second = await world.build("second", ssh_keys=["ours"])
        await desk.attach(volume, second)
        await desk.state(volume, "attached")
        assert await desk.run("cat /volumes/data/model") == "weights\n"
        await desk.detach(volume)
        await desk.state(volume, "available")
        assert await desk.run("ls /volumes") == ""
        await desk.delete(volume)
        assert await desk.billed() == [(10, True)]
        await desk.state(volume, "deleted")
    name = await world.value("SELECT external_name FROM volumes")
    assert world.http.get(f"/v1/volumes/{name}").status_code == 404
    late = {"region": "luxembourg-2", "size_gib": 10}
    assert world.http.put(f"/v1/volumes/{name}", json=late).status_code == 422, "a late request makes no volume"
    assert await desk.events() == [
        "volume.created",
        "volume.available",
        *["volume.attached"] * 2,
        "volume.detached",
        "volume.attached",
        "volume.detached",
        "volume.deleted",
    ]


async def test_a_volume_grows_while_it_is_attached_and_is_billed_for_each_size(world: SiteWorld, desk: Desk) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        volume = await desk.create(gib=10)
        await desk.state(volume, "available")
        await desk.attach(volume, cluster)
        await desk.state(volume, "attached")
        await desk.run("echo weights > /volumes/data/model")
        await desk.resize(volume, 40)
        await desk.state(volume, "attached")
        assert await desk.billed() == [(10, True), (40, False)]
        assert await desk.run("cat /volumes/data/model") == "weights\n"
        assert await desk.refused(desk.resize(volume, 20)) is VALIDATION_FAILED
        assert await desk.refused(desk.resize(volume, 20_000)) is QUOTA_EXCEEDED
        await desk.detach(volume)
        await desk.state(volume, "available")
        await desk.delete(volume)
        await desk.state(volume, "deleted")
    spans = await world.rows(
        "SELECT anchor_at, started_at, ended_at FROM usage_intervals WHERE volume_id IS NOT NULL ORDER BY started_at"
    )
    assert spans[0].ended_at == spans[1].started_at
    assert spans[0].anchor_at == spans[1].anchor_at


async def test_a_new_cluster_has_its_volumes_when_it_is_active(world: SiteWorld, desk: Desk) -> None:
    async with world.worker():
        first, second = await desk.create("first"), await desk.create("second")
        await desk.state(first, "available")
        await desk.state(second, "available")
        world.fault(call="volumes.attach", action="drop_answer", times=1)
        cluster = await world.build(
            ssh_keys=["ours"], volumes=[{"volume": "first"}, {"volume": str(second), "server": 0}]
        )
        # In the commit that made it active, and not later.
        attached = await world.column("SELECT created_at FROM events WHERE type = 'volume.attached' ORDER BY id")
        [active] = await world.column("SELECT created_at FROM events WHERE type = 'cluster.active'")
        assert len(attached) == 2
        assert max(attached) <= active
        await desk.run("echo weights > /volumes/first/model")
        assert await desk.run("ls /volumes") == "first\nsecond\n"
        await world.succeeded(await world.delete(cluster))
        await desk.state(first, "available")
        await desk.state(second, "available")
        await world.build("again", ssh_keys=["ours"], volumes=[{"volume": "first"}])
        assert await desk.run("cat /volumes/first/model") == "weights\n"
    steps = await world.column(
        "SELECT s.name FROM operation_steps s JOIN operations o ON o.id = s.operation_id"
        " WHERE o.cluster_id = :id AND o.kind = 'cluster.create' ORDER BY s.ordinal",
        id=cluster,
    )
    assert steps[-2:] == ["attach_volumes", "check_ipus"]


@pytest.mark.parametrize("end", ["delete", "cancel", "failure"])
async def test_a_create_that_does_not_succeed_leaves_its_volume_free(world: SiteWorld, desk: Desk, end: str) -> None:
    async with world.worker():
        volume = await desk.create()
        await desk.state(volume, "available")
        cluster = await world.build("writer", ssh_keys=["ours"], volumes=[{"volume": "data"}])
        await desk.run("echo weights > /volumes/data/model")
        await world.succeeded(await world.delete(cluster))
        await desk.state(volume, "available")
        refused = end == "failure"
        world.fault(
            call="hosts.put_server" if refused else "volumes.attach", action="status", status=422 if refused else 503
        )
        made = await world.create("second", ssh_keys=["ours"], volumes=[{"volume": "data"}])
        if refused:
            assert (await world.finished(made)).state == "failed"
            await desk.state(volume, "available")
            await world.delete(made.target_id)
        else:
            await world.hit("volumes.attach")
        if end == "cancel":
            assert await world.cancel(made)
        if end == "delete":
            await world.delete(made.target_id)
        world.clear_faults()
        await desk.state(volume, "available")
        third = await world.build("third", ssh_keys=["ours"], volumes=[{"volume": "data"}])
        assert await desk.run("cat /volumes/data/model") == "weights\n"
        assert await world.value("SELECT cluster_id FROM volumes") == third


async def test_a_volume_that_the_site_refuses_is_not_billed(world: SiteWorld, desk: Desk) -> None:
    world.fault(call="volumes.put", action="status", status=422, times=1)
    async with world.worker():
        volume = await desk.create()
        await desk.state(volume, "error")
        assert await desk.billed() == []
        cluster = await world.build(ssh_keys=["ours"])
        assert await desk.refused(desk.attach(volume, cluster)) is STATE_CONFLICT
        await desk.delete(volume)
        await desk.state(volume, "deleted")
    shown = await world.value("SELECT data FROM events WHERE type = 'volume.failed'")
    assert json.loads(json.dumps(shown))["reason"].startswith("The site refused")


async def test_a_volume_is_made_from_a_snapshot_of_another(world: SiteWorld, desk: Desk) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        for call in ("snapshots.put", "snapshots.delete"):
            world.fault(call=call, action="drop_answer", times=1)
        volume = await desk.create()
        await desk.state(volume, "available")
        await desk.attach(volume, cluster)
        await desk.state(volume, "attached")
        await desk.run("echo weights > /volumes/data/model; ln -s model /volumes/data/latest")
        taken = await desk.take("before", volume)
        await desk.copied(taken, "available")
        assert await desk.billed("snapshot_id") == [(10, False)]
        await desk.run("echo spoilt > /volumes/data/model")
        # It needs its volume no longer.
        await desk.detach(volume)
        await desk.state(volume, "available")
        await desk.delete(volume)
        await desk.state(volume, "deleted")
        restored = await desk.create("again", gib=20, snapshot="before")
        await desk.state(restored, "available")
        await desk.requested(lambda on, by: snapshots.delete(on, by, taken))
        assert await desk.billed("snapshot_id") == [(10, True)]
        await desk.copied(taken, "deleted")
        await desk.attach(restored, cluster)
        await desk.state(restored, "attached")
        assert await desk.run("cat /volumes/again/latest") == "weights\n"
        await desk.detach(restored)
        await desk.state(restored, "available")
        await desk.delete(restored)
        await desk.state(restored, "deleted")
    name = await world.value("SELECT external_name FROM snapshots")
    assert world.http.get(f"/v1/snapshots/{name}").status_code == 404
    types = await world.column("SELECT type FROM events WHERE subject_type = 'snapshot' ORDER BY id")
    assert types == ["snapshot.created", "snapshot.available", "snapshot.deleted"]


async def test_a_snapshot_that_the_site_refuses_is_not_billed(world: SiteWorld, desk: Desk) -> None:
    world.fault(call="snapshots.put", action="status", status=422, times=1)
    async with world.worker():
        volume = await desk.create()
        await desk.state(volume, "available")
        taken = await desk.take("before", volume)
        await desk.copied(taken, "error")
        assert await desk.billed("snapshot_id") == []
        await desk.requested(lambda on, by: snapshots.delete(on, by, taken))
        await desk.copied(taken, "deleted")
        await desk.delete(volume)
        await desk.state(volume, "deleted")
    shown = await world.value("SELECT data FROM events WHERE type = 'snapshot.failed'")
    assert shown["reason"].startswith("The site refused")
