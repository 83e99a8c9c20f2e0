"""What a site is asked for a volume, which can also grow."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored, open_stored
from ipucloud.clusters.resources.answers import Port
from ipucloud.clusters.resources.reconciler import AttachableReconciler, Inputs, NotShown, loading
from ipucloud.clusters.volumes.record import VOLUMES, Volume
from ipucloud.contract.volumes import MOUNT_FOLDER, VolumeState
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Done, Go, Outcome
from ipucloud.site.ports import Site
from ipucloud.site.ports import Volumes as Storage
from ipucloud.wire.storage import Volume as Seen
from ipucloud.wire.storage import VolumeAttachment, VolumeSpec

_SPEC = """
json_build_object(
  'region', a.region, 'size_gib', coalesce(a.wanted_gib, a.size_gib),
  'snapshot', (SELECT source.external_name
                 FROM volume_origins AS origin
                 JOIN snapshots AS source ON (source.project_id, source.id) = (origin.project_id, origin.snapshot_id)
                WHERE (origin.project_id, origin.volume_id) = (a.project_id, a.id)))
"""


class VolumeReconciler(AttachableReconciler[Volume, Seen, VolumeSpec, VolumeAttachment]):
    """One volume."""

    resources = VOLUMES
    statement = loading("volumes", _SPEC)
    spec, attachment = VolumeSpec, VolumeAttachment
    refusal = "The site refused to make it. Delete it."

    def port(self, site: Site) -> Storage:
        return site.volumes

    def place(self, inputs: Inputs) -> dict[str, str] | None:
        server = super().place(inputs)
        return None if server is None else server | {"path": f"{MOUNT_FOLDER}/{inputs.name}"}

    async def request(self, port: Port[Seen, VolumeSpec, VolumeAttachment], inputs: Inputs) -> Seen | NotShown:
        if inputs.state == VolumeState.RESIZING:
            return await port.put(inputs.external_name, self.spec.model_validate(inputs.spec))
        return await super().request(port, inputs)

    async def record(
        self, connection: AsyncConnection, row: Volume, inputs: Inputs, result: Seen | NotShown
    ) -> Outcome:
        match row.state, result:
            case VolumeState.RESIZING, Seen(spec=spec) if spec.size_gib == row.wanted_gib:
                outcome = await _grown(connection, row)
            case _:
                outcome = await super().record(connection, row, inputs, result)
        failpoint("volume.recorded")
        return outcome


async def _grown(connection: AsyncConnection, volume: Volume) -> Outcome:
    """It has its new size, and is billed for it from now on."""
    grown = volume._replace(size_gib=volume.wanted_gib or volume.size_gib, wanted_gib=None)
    ids = {"project_id": volume.project_id, "resource_id": volume.id}
    attached = volume.cluster_id is not None
    await VOLUMES.report(connection, "resized", grown)
    await VOLUMES.move(connection, grown, VolumeState.ATTACHING if attached else VolumeState.AVAILABLE)
    await close_stored(connection, **ids)
    await open_stored(connection, **ids)
    return Go() if attached else Done()
