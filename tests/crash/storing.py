"""Trials with a volume: it is made, attached, detached and deleted once, and a new cluster gets it or leaves it free,
whatever dies meanwhile. A snapshot of one is taken once, another volume made from it, and it is deleted.
"""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

from ipucloud.clusters.volumes import store
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.clusters.volumes.snapshots import store as snapshots
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS
from ipucloud.contract.snapshots import SnapshotCreate
from ipucloud.contract.volumes import VolumeAttach, VolumeCreate
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import FLAVOR, Lab
from tests.crash.requests import ApiRequest, RequestKind
from tests.crash.victims import Victim
from tests.support.snapshots import offer_snapshots
from tests.support.volumes import offer_volumes, volume_json
from tests.support.waiting import until
from tests.support.world import IMAGE

_LAST = "SELECT id, state, revision FROM volumes ORDER BY created_at DESC, id DESC LIMIT 1"
_EVENTS = "SELECT type FROM events WHERE subject_id = :id ORDER BY id"
_COPY = "SELECT id, state FROM snapshots ORDER BY created_at DESC, id DESC LIMIT 1"
_COPY_LIFE = ["snapshot.created", "snapshot.available", "snapshot.deleted"]
_RESTORED = "SELECT v.state FROM volume_origins o JOIN volumes v ON v.id = o.volume_id WHERE o.snapshot_id = :id"
_BILLED = "SELECT ended_at IS NOT NULL FROM usage_intervals WHERE resource_id = :id"
_LIFE = ["volume.created", "volume.available", "volume.attached", "volume.detached", "volume.deleted"]


class KeepVolume(Kind):
    name = "keep-volume"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        body = VolumeCreate.model_validate(volume_json(lab.fresh()))
        async with lab.database.begin() as connection:
            await offer_volumes(connection)
            await store.create(connection, lab.project.actor, body, catalogue=lab.catalogue, settings=lab.settings)
        creation = await lab.creation(cluster)
        return Expectation(cluster, creation, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._live(lab, expectation.cluster)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await self._live(lab, expectation.cluster)
        volume = await lab.one(_LAST)
        assert await lab.column(_EVENTS, id=volume.id) == _LIFE
        billed = await lab.column(
            "SELECT ended_at IS NOT NULL FROM usage_intervals WHERE resource_id = :id", id=volume.id
        )
        assert billed == [True]
        assert lab.http.get(f"/v1/volumes/{volume.id}-1").status_code == 404

    async def _live(self, lab: Lab, cluster: UUID) -> None:
        """Ask for what comes next in its life, until it is over."""

        async def over() -> bool:
            volume = await lab.one(_LAST)
            async with lab.database.begin() as connection:
                by = lab.project.actor
                if volume.state == "available" and not volume.revision:
                    await VOLUMES.attach(connection, by, volume.id, VolumeAttach(cluster=cluster))
                elif volume.state == "available":
                    await VOLUMES.delete(connection, by, volume.id)
                elif volume.state == "attached":
                    await VOLUMES.detach(connection, by, volume.id)
            return bool(volume.state == "deleted")

        await until(over, "the volume has lived")


async def _available(lab: Lab) -> str:
    """The name of a volume that the site has made."""
    name = lab.fresh()
    async with lab.database.begin() as connection:
        await offer_volumes(connection)
        body = VolumeCreate.model_validate(volume_json(name))
        volume = await store.create(connection, lab.project.actor, body, catalogue=lab.catalogue, settings=lab.settings)

    async def available() -> bool:
        return bool(await lab.value("SELECT state FROM volumes WHERE id = :id", id=volume) == "available")

    async with lab.survivor():
        await until(available, "the volume is available")
    return name


class KeepSnapshot(Kind):
    name = "keep-snapshot"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        body = SnapshotCreate(name=lab.fresh(), volume=await _available(lab))
        async with lab.database.begin() as connection:
            await offer_snapshots(connection)
            await snapshots.create(connection, lab.project.actor, body, settings=lab.settings)
        creation = await lab.creation(cluster)
        return Expectation(cluster, creation, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._live(lab)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await self._live(lab)
        snapshot = await lab.one(_COPY)
        assert await lab.column(_EVENTS, id=snapshot.id) == _COPY_LIFE
        billed = await lab.column(
            "SELECT ended_at IS NOT NULL FROM usage_intervals WHERE resource_id = :id", id=snapshot.id
        )
        assert billed == [True]
        assert lab.http.get(f"/v1/snapshots/{snapshot.id}-1").status_code == 404

    async def _live(self, lab: Lab) -> None:
        """Ask for a volume that is made from it, and then for its end."""

        async def over() -> bool:
            snapshot = await lab.one(_COPY)
            restored = await lab.column(_RESTORED, id=snapshot.id)
            async with lab.database.begin() as connection:
                by = lab.project.actor
                if snapshot.state == "available" and not restored:
                    body = VolumeCreate.model_validate(volume_json(lab.fresh(), snapshot=str(snapshot.id)))
                    await store.create(connection, by, body, catalogue=lab.catalogue, settings=lab.settings)
                elif snapshot.state == "available" and restored == ["available"]:
                    await SNAPSHOTS.delete(connection, by, snapshot.id)
            return bool(snapshot.state == "deleted")

        await until(over, "the snapshot has lived")


class CreateWithVolume(Kind):
    name = "create-with-volume"

    async def ask(self, lab: Lab) -> Expectation:
        volume = await _available(lab)
        creation = await lab.create(lab.fresh(), FLAVOR, volumes=[{"volume": volume}])
        return Expectation(creation.target_id, creation, "succeeded", "active")

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await lab.finished(expectation.operation)
        held = await lab.column("SELECT state FROM volumes WHERE cluster_id = :id", id=expectation.cluster)
        assert held == ["attached"]


class CancelWithVolume(CreateWithVolume):
    """Cancelled when its Poplar server is to be written."""

    name = "cancel-with-volume"
    after = "operation.cancel_seen"

    async def ask(self, lab: Lab) -> Expectation:
        lab.fault(call="hosts.put_server", action="status", status=503)
        return replace(await super().ask(lab), ends="cancelled", state="deleted")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await victim.reached("site.after:hosts.put_server")
        assert await lab.cancel(expectation.operation)
        await super().drive(lab, expectation, victim)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async def free() -> bool:
            return bool(await lab.value("SELECT state FROM volumes ORDER BY created_at DESC LIMIT 1") == "available")

        async with lab.survivor():
            await until(free, "the volume is free again")


class PostCreateWithVolume(RequestKind):
    name, ends, state = "post-create-with-volume", "succeeded", "active"

    async def prepare(self, lab: Lab) -> ApiRequest:
        body = {
            "name": lab.fresh(),
            "region": "luxembourg-2",
            "flavor": FLAVOR,
            "image": IMAGE,
            "ssh_keys": ["laptop"],
            "volumes": [{"volume": await _available(lab)}],
        }
        return ApiRequest("POST", f"{lab.base}/clusters", body, str(uuid4()))


VOLUME_KINDS: tuple[Kind, ...] = (KeepVolume(), KeepSnapshot(), CreateWithVolume(), CancelWithVolume())
VOLUME_REQUESTS: tuple[RequestKind, ...] = (PostCreateWithVolume(),)
