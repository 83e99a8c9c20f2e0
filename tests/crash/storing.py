"""The kind of trial with a volume: it is made, attached, detached and deleted once, whatever dies meanwhile."""

from __future__ import annotations

from uuid import UUID

from ipucloud.clusters.volumes import store
from ipucloud.contract.volumes import VolumeAttach, VolumeCreate
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.volumes import offer_volumes, volume_json
from tests.support.waiting import until

_LAST = "SELECT id, state, revision FROM volumes ORDER BY created_at DESC, id DESC LIMIT 1"
_EVENTS = "SELECT type FROM events WHERE subject_id = :id ORDER BY id"
_BILLED = "SELECT ended_at IS NOT NULL FROM usage_intervals WHERE volume_id = :id"
_LIFE = ["volume.created", "volume.available", "volume.attached", "volume.detached", "volume.deleted"]


class KeepVolume(Kind):
    name = "keep-volume"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        body = VolumeCreate.model_validate(volume_json(lab.fresh()))
        async with lab.database.begin() as connection:
            await offer_volumes(connection)
            await store.create(connection, lab.project.actor, body, catalogue=lab.catalogue, settings=lab.settings)
        made = await lab.value(
            "SELECT id FROM operations WHERE cluster_id = :id AND kind = 'cluster.create'", id=cluster
        )
        return Expectation(cluster, made, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._live(lab, expectation.cluster)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await self._live(lab, expectation.cluster)
        volume = await lab.one(_LAST)
        assert await lab.column(_EVENTS, id=volume.id) == _LIFE
        billed = await lab.column(
            "SELECT ended_at IS NOT NULL FROM usage_intervals WHERE volume_id = :id", id=volume.id
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
                    await store.attach(connection, by, volume.id, VolumeAttach(cluster=cluster))
                elif volume.state == "available":
                    await store.delete(connection, by, volume.id)
                elif volume.state == "attached":
                    await store.detach(connection, by, volume.id)
            return bool(volume.state == "deleted")

        await until(over, "the volume has lived")


VOLUME_KINDS: tuple[Kind, ...] = (KeepVolume(),)
