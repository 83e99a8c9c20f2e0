"""Brings a volume to the state that was requested: has its site make it, attach it, let it grow, delete it.

A request whose outcome is unknown is repeated under the same name and revision, which shows what became of it.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored, open_stored
from ipucloud.clusters.attachment import ATTACHED_SECONDS, OVER, Absent, Gone, Quiet, Refused, answer_of, attach
from ipucloud.clusters.volumes.record import VOLUMES, Volume, advance, lock, move, note, report
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_types.projects import (
    VOLUME_ATTACHED,
    VOLUME_AVAILABLE,
    VOLUME_DELETED,
    VOLUME_DETACHED,
    VOLUME_FAILED,
    VOLUME_RESIZED,
)
from ipucloud.contract.volumes import MOUNT_FOLDER, VolumeState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import Sites
from ipucloud.site.ports import Volumes as Storage
from ipucloud.wire.storage import Volume as Seen
from ipucloud.wire.storage import VolumeAttachment, VolumeServer, VolumeSpec

_S = VolumeState
_AT_REST = frozenset({_S.AVAILABLE, _S.DELETED, _S.ERROR})

Result = Seen | Gone | Absent | Refused | Quiet


class VolumeInputs(NamedTuple):
    """`host` None: the server runs on none at present. `network`: that of its cluster. `snapshot`: the site's name of
    the one that it is made from."""

    leased: bool
    id: UUID | None
    project_id: UUID | None
    name: str | None
    region: str | None
    external_name: str | None
    size_gib: int | None
    wanted_gib: int | None
    state: VolumeState | None
    revision: int | None
    snapshot: str | None
    server: str | None
    server_state: str | None
    host: str | None
    network: str | None
    cluster_state: ClusterState | None

    @property
    def gone(self) -> bool:
        return self.server_state == "deleted" or self.cluster_state in OVER

    @property
    def spec(self) -> VolumeSpec:
        size = self.wanted_gib or self.size_gib or 0
        return VolumeSpec(region=self.region or "", size_gib=size, snapshot=self.snapshot)

    @property
    def place(self) -> VolumeServer | None:
        """Where it is to be; None while its server does not run."""
        if self.server is None or self.host is None or self.network is None or self.server_state != "running":
            return None
        path = f"{MOUNT_FOLDER}/{self.name}"
        return VolumeServer(host=self.host, server=self.server, network=self.network, path=path)


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, v.id, v.project_id, v.name, v.region, v.external_name, v.size_gib,
           v.wanted_gib, v.state, v.revision, source.external_name AS snapshot, s.name AS server,
           s.state AS server_state, h.name AS host,
           c.external_name AS network, c.state AS cluster_state
      FROM work AS w LEFT JOIN volumes AS v ON v.id = CAST(w.key AS uuid)
      LEFT JOIN volume_origins AS origin ON (origin.project_id, origin.volume_id) = (v.project_id, v.id)
      LEFT JOIN snapshots AS source ON (source.project_id, source.id) = (origin.project_id, origin.snapshot_id)
      LEFT JOIN clusters AS c ON (c.project_id, c.id) = (v.project_id, v.cluster_id)
      LEFT JOIN poplar_servers AS s ON (s.project_id, s.id) = (v.project_id, v.server_id)
      LEFT JOIN allocations AS held
        ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
       AND held.host_id IS NOT NULL AND held.released_at IS NULL
      LEFT JOIN hosts AS h ON h.id = held.host_id
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    VolumeInputs,
)


class VolumeReconciler:
    """One volume."""

    kind = VOLUMES

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    async def load(self, connection: Statements, item: WorkItem) -> VolumeInputs | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        if row.id is None or row.state in _AT_REST:
            return Done()
        if row.state is _S.ATTACHED and not row.gone and row.place is None:
            return Wait("its server does not run", recheck=ATTACHED_SECONDS)
        return row

    async def act(self, item: WorkItem, inputs: VolumeInputs) -> Result:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), volume_id=str(inputs.id))
        storage = self._sites.at(None, item.remaining).volumes
        return await answer_of(_request(storage, inputs))

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: VolumeInputs, result: Result) -> Outcome:
        if inputs.project_id is None or inputs.id is None:
            return Done()
        volume = await lock(connection, project_id=inputs.project_id, volume_id=inputs.id)
        if (volume.state, volume.revision) != (inputs.state, inputs.revision):
            return Go()  # a request came meanwhile
        outcome = await _apply(connection, volume, inputs, result)
        failpoint("volume.recorded")
        return outcome


async def _request(storage: Storage, volume: VolumeInputs) -> Result:
    """Request what the state needs; what the site shows then. Raises SiteError."""
    name, revision = volume.external_name or "", volume.revision or 0
    observed: Seen | Gone | Quiet | None
    match volume.state:
        case _S.CREATING | _S.RESIZING:
            observed = await storage.put(name, volume.spec)
        case _S.ATTACHED | _S.ATTACHING if volume.gone:
            observed = Gone()
        case _S.ATTACHED:
            observed = await storage.get(name)
        case _S.ATTACHING if volume.place is None:
            observed = Quiet("its server does not run", ATTACHED_SECONDS)  # its start wakes this
        case _S.ATTACHING:
            observed = await attach(
                storage.attach, storage.get, name, VolumeAttachment(revision=revision, server=volume.place)
            )
        case _S.DETACHING:
            observed = await storage.attach(name, VolumeAttachment(revision=revision, server=None))
        case _:
            await storage.delete(name)
            observed = await storage.get(name)
    return observed or Absent()


async def _apply(connection: AsyncConnection, volume: Volume, inputs: VolumeInputs, result: Result) -> Outcome:
    outcome: Outcome = Done()
    match volume.state, result:
        case _, Quiet(why=why, recheck=recheck):
            await note(connection, volume, why)
            outcome = Wait(why, recheck=recheck)
        case _S.CREATING, Refused():
            failed = await move(connection, volume, _S.ERROR, reason="The site refused to make it. Delete it.")
            await report(connection, VOLUME_FAILED, failed)
        case _S.CREATING, Seen():
            await report(connection, VOLUME_AVAILABLE, await move(connection, volume, _S.AVAILABLE))
            await open_stored(connection, project_id=volume.project_id, resource_id=volume.id)
        case _S.RESIZING, Seen(spec=spec) if spec.size_gib == volume.wanted_gib:
            outcome = await _grown(connection, volume)
        case ((_S.ATTACHING | _S.ATTACHED), Gone()):
            await move(connection, volume._replace(revision=volume.revision + 1), _S.DETACHING)
            outcome = Go()
        case ((_S.ATTACHING | _S.ATTACHED), Seen()):
            outcome = await _attached(connection, volume, inputs, result)
        case _S.DETACHING, (Seen() | Absent()):
            await report(connection, VOLUME_DETACHED, volume)
            await move(connection, volume._replace(cluster_id=None, server_id=None), _S.AVAILABLE)
        case _S.DELETING, Absent():
            await report(connection, VOLUME_DELETED, await move(connection, volume, _S.DELETED))
        case _:
            why = "its site does not know it" if isinstance(result, Absent) else "its site refuses it for now"
            await note(connection, volume, why)
            outcome = Wait(why, recheck=ATTACHED_SECONDS)
    return outcome


async def _grown(connection: AsyncConnection, volume: Volume) -> Outcome:
    """It has its new size, and is billed for it from now on."""
    grown = volume._replace(size_gib=volume.wanted_gib or volume.size_gib, wanted_gib=None)
    ids = {"project_id": volume.project_id, "resource_id": volume.id}
    attached = volume.cluster_id is not None
    await report(connection, VOLUME_RESIZED, grown)
    await move(connection, grown, _S.ATTACHING if attached else _S.AVAILABLE)
    await close_stored(connection, **ids)
    await open_stored(connection, **ids)
    return Go() if attached else Done()


async def _attached(connection: AsyncConnection, volume: Volume, inputs: VolumeInputs, observed: Seen) -> Outcome:
    """Record whether the server has it as is wanted; otherwise attach it again, under the next revision."""
    shown, place = observed.attachment, inputs.place
    has = None if shown is None else shown.server
    if (
        place is not None
        and has is not None
        and (has.host, has.server, has.path)
        == (
            place.host,
            place.server,
            place.path,
        )
    ):
        if volume.state is _S.ATTACHING:
            await report(connection, VOLUME_ATTACHED, await move(connection, volume, _S.ATTACHED))
        await note(connection, volume, None)
        return Wait("attached", recheck=ATTACHED_SECONDS)
    if volume.state is _S.ATTACHED:
        await move(connection, volume._replace(revision=volume.revision + 1), _S.ATTACHING, reason="attached anew")
        return Go()
    later = max(volume.revision, 0 if shown is None else shown.revision) + 1
    await advance(connection, volume, later)
    return Go()
