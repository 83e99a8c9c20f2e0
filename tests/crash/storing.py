"""Trials with volumes, addresses and snapshots: each is made, attached, detached and deleted once, and a new cluster
gets its volume or leaves it free, whatever dies meanwhile. A snapshot is taken once, and another volume made from it.
"""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.addresses import record
from ipucloud.clusters.addresses.record import ADDRESSES
from ipucloud.clusters.volumes import store
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.clusters.volumes.snapshots import store as snapshots
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS
from ipucloud.contract.addresses import AddressAttach, AddressCreate
from ipucloud.contract.snapshots import SnapshotCreate
from ipucloud.contract.volumes import VolumeAttach, VolumeCreate
from ipucloud.operations.store import Accepted
from tests.crash.kinds import Beside, Create, Expectation, busy
from tests.crash.lab import FLAVOR, Lab
from tests.crash.requests import ApiRequest, RequestKind, create
from tests.support.addresses import address_json, offer_addresses
from tests.support.snapshots import offer_snapshots
from tests.support.volumes import offer_volumes, volume_json
from tests.support.waiting import until

_EVENTS = "SELECT type FROM events WHERE subject_id = :id ORDER BY id"
_RESTORED = "SELECT v.state FROM volume_origins o JOIN volumes v ON v.id = o.volume_id WHERE o.snapshot_id = :id"


class Keep(Beside):
    """It begins a life in which `next_step` asks for what comes next, until it is deleted."""

    noun: ClassVar[str]
    table: ClassVar[str]
    life: ClassVar[tuple[str, ...]] = ("created", "available", "attached", "detached", "deleted")

    async def next_step(self, lab: Lab, connection: AsyncConnection, cluster: UUID, thing: Any) -> None:
        raise NotImplementedError

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        async def over() -> bool:
            thing = await self._last(lab)
            async with lab.database.begin() as connection:
                await self.next_step(lab, connection, cluster, thing)
            return bool(thing.state == "deleted")

        await until(over, f"the {self.noun} has lived")

    async def check(self, lab: Lab, cluster: UUID) -> None:
        thing = await self._last(lab)
        assert await lab.column(_EVENTS, id=thing.id) == [f"{self.noun}.{what}" for what in self.life]
        billed = "SELECT ended_at IS NOT NULL FROM usage_intervals WHERE resource_id = :id"
        assert await lab.column(billed, id=thing.id) == [True]
        assert lab.http.get(f"/v1/{self.table}/{thing.id}-1").status_code == 404

    async def _last(self, lab: Lab) -> Any:
        return await lab.one(f"SELECT * FROM {self.table} ORDER BY created_at DESC, id DESC LIMIT 1")  # noqa: S608


class KeepVolume(Keep):
    name, noun, table = "keep-volume", "volume", "volumes"

    async def start(self, lab: Lab, cluster: UUID) -> None:
        await _make_volume(lab)

    async def next_step(self, lab: Lab, connection: AsyncConnection, cluster: UUID, thing: Any) -> None:
        by = lab.project.actor
        if thing.state == "available" and not thing.revision:
            await VOLUMES.attach(connection, by, thing.id, VolumeAttach(cluster=cluster))
        elif thing.state == "available":
            await VOLUMES.delete(connection, by, thing.id)
        elif thing.state == "attached":
            await VOLUMES.detach(connection, by, thing.id)


class KeepAddress(Keep):
    name, noun, table = "keep-address", "address", "addresses"

    async def start(self, lab: Lab, cluster: UUID) -> None:
        body = AddressCreate.model_validate(address_json(lab.fresh()))
        async with lab.database.begin() as connection:
            await offer_addresses(connection)
            await record.create(connection, lab.project.actor, body, catalogue=lab.catalogue, settings=lab.settings)

    async def next_step(self, lab: Lab, connection: AsyncConnection, cluster: UUID, thing: Any) -> None:
        by = lab.project.actor
        if thing.state == "available" and not thing.revision:
            await ADDRESSES.attach(connection, by, thing.id, AddressAttach(cluster=cluster))
        elif thing.state == "available":
            await ADDRESSES.delete(connection, by, thing.id)
        elif thing.state == "attached":
            await ADDRESSES.detach(connection, by, thing.id)


async def _make_volume(lab: Lab, **more: object) -> tuple[UUID, str]:
    """A volume is requested: its id and name."""
    name = lab.fresh()
    body = VolumeCreate.model_validate(volume_json(name, **more))
    async with lab.database.begin() as connection:
        await offer_volumes(connection)
        volume = await store.create(connection, lab.project.actor, body, catalogue=lab.catalogue, settings=lab.settings)
    return volume, name


async def _available(lab: Lab) -> str:
    """The name of a volume that the site has made."""
    volume, name = await _make_volume(lab)
    available = "SELECT state = 'available' FROM volumes WHERE id = :id"
    async with lab.survivor():
        await until(lambda: lab.value(available, id=volume), "the volume is available")
    return name


class KeepSnapshot(Keep):
    """A volume is made from it, and then it ends."""

    name, noun, table = "keep-snapshot", "snapshot", "snapshots"
    life = ("created", "available", "deleted")

    async def start(self, lab: Lab, cluster: UUID) -> None:
        body = SnapshotCreate(name=lab.fresh(), volume=await _available(lab))
        async with lab.database.begin() as connection:
            await offer_snapshots(connection)
            await snapshots.create(connection, lab.project.actor, body, settings=lab.settings)

    async def next_step(self, lab: Lab, connection: AsyncConnection, cluster: UUID, thing: Any) -> None:
        restored = await lab.column(_RESTORED, id=thing.id)
        if thing.state == "available" and not restored:
            await _make_volume(lab, snapshot=str(thing.id))
        elif thing.state == "available" and restored == ["available"]:
            await SNAPSHOTS.delete(connection, lab.project.actor, thing.id)


class CreateWithVolume(Create):
    name = "create-with-volume"

    async def begin(self, lab: Lab) -> Accepted:
        return await lab.create(lab.fresh(), FLAVOR, volumes=[{"volume": await _available(lab)}])

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await lab.finished(expectation.operation)
        held = await lab.column("SELECT state FROM volumes WHERE cluster_id = :id", id=expectation.cluster)
        assert held == ["attached"]


class CancelWithVolume(CreateWithVolume):
    """Cancelled when its Poplar server is to be written."""

    name, ends, after = "cancel-with-volume", ("cancelled", "deleted"), "operation.cancel_seen"
    fault, cancelled_at = busy("hosts.put_server"), "hosts.put_server"

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        free = "SELECT state = 'available' FROM volumes ORDER BY created_at DESC LIMIT 1"
        async with lab.survivor():
            await until(lambda: lab.value(free), "the volume is free again")


async def _create_with_volume(lab: Lab) -> ApiRequest:
    return await create(lab, volumes=[{"volume": await _available(lab)}])


STORING = (KeepVolume(), KeepSnapshot(), CreateWithVolume(), CancelWithVolume(), KeepAddress())
POST_CREATE_WITH_VOLUME = RequestKind("post-create-with-volume", _create_with_volume)
