"""Brings a snapshot to the state that was requested: has its site take it, or delete it.

A request whose outcome is unknown is repeated under the same name, which shows what became of it.
"""

from __future__ import annotations

from typing import NamedTuple, cast
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_stored
from ipucloud.clusters.resources.answers import OVER, WAITING_SECONDS
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS, Snapshot
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.snapshots import SnapshotState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import SiteError, SiteRefused, Sites
from ipucloud.site.ports import Snapshots as Storage
from ipucloud.wire.storage import Snapshot as Seen
from ipucloud.wire.storage import SnapshotServer, SnapshotSpec
from ipucloud.wire.storage import SnapshotState as AtSite

log = structlog.get_logger(__name__)

_S = SnapshotState
_AT_REST = frozenset({_S.AVAILABLE, _S.DELETED, _S.ERROR})
_UNKNOWN = "its site does not answer, or has to wait"
_REFUSED = "The site refused to take it, or its server was removed before it was complete. Delete it."


class SnapshotInputs(NamedTuple):
    """`volume`: the name that the site knows the volume by; None: it is of a server.

    `host` None: the server runs on none at present. `network`: that of its cluster.
    """

    leased: bool
    id: UUID | None
    project_id: UUID | None
    region: str | None
    external_name: str | None
    volume: str | None
    state: SnapshotState | None
    server: str | None
    server_state: str | None
    host: str | None
    network: str | None
    cluster_state: ClusterState | None

    @property
    def gone(self) -> bool:
        """Its server is removed, and has not been copied yet."""
        return self.server is not None and (self.server_state == "deleted" or self.cluster_state in OVER)

    @property
    def spec(self) -> SnapshotSpec | None:
        """What the site is to copy; None while the server does not run."""
        region = self.region or ""
        if self.server is None:
            return SnapshotSpec(region=region, volume=self.volume)
        if self.host is None or self.network is None or self.server_state != "running":
            return None
        source = SnapshotServer(host=self.host, server=self.server, network=self.network)
        return SnapshotSpec(region=region, server=source)


class _Result(NamedTuple):
    """What the site shows, None: no such snapshot; or `refused`: it does not take one; or `why` nothing is known."""

    observed: Seen | None = None
    refused: bool = False
    why: str | None = None


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, s.id, s.project_id, s.region, s.external_name,
           v.external_name AS volume, s.state, server.name AS server, server.state AS server_state, h.name AS host,
           c.external_name AS network, c.state AS cluster_state
      FROM work AS w LEFT JOIN snapshots AS s ON s.id = CAST(w.key AS uuid)
      LEFT JOIN volumes AS v ON (v.project_id, v.id) = (s.project_id, s.volume_id)
      LEFT JOIN clusters AS c ON (c.project_id, c.id) = (s.project_id, s.cluster_id)
      LEFT JOIN poplar_servers AS server ON (server.project_id, server.id) = (s.project_id, s.server_id)
      LEFT JOIN allocations AS held
        ON (held.project_id, held.cluster_id, held.ordinal) = (server.project_id, server.cluster_id, server.ordinal)
       AND held.host_id IS NOT NULL AND held.released_at IS NULL
      LEFT JOIN hosts AS h ON h.id = held.host_id
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    SnapshotInputs,
)


class SnapshotReconciler:
    """One snapshot."""

    kind = SNAPSHOTS.nouns

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    async def load(self, connection: Statements, item: WorkItem) -> SnapshotInputs | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        return Done() if row.id is None or row.state in _AT_REST else row

    async def act(self, item: WorkItem, inputs: SnapshotInputs) -> _Result:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), snapshot_id=str(inputs.id))
        storage = self._sites.at(None, item.remaining).snapshots
        name = inputs.external_name or ""
        try:
            if inputs.state is _S.CREATING:
                return await _request(storage, name, inputs)
            await storage.delete(name)
            return _Result(await storage.get(name))
        except SiteRefused as error:
            log.info("snapshot_refused", error=str(error))
            return _Result(refused=True)
        except SiteError as error:
            log.info("snapshot_unknown", error=str(error))
            return _Result(why=_UNKNOWN)

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: SnapshotInputs, result: _Result
    ) -> Outcome:
        if inputs.project_id is None or inputs.id is None:
            return Done()
        snapshot = await SNAPSHOTS.lock(connection, inputs.project_id, inputs.id)
        if snapshot.state != inputs.state:
            return Go()  # a request came meanwhile
        outcome = await _apply(connection, snapshot, result)
        failpoint("snapshot.recorded")
        return outcome


async def _request(storage: Storage, name: str, inputs: SnapshotInputs) -> _Result:
    """Request it unless the site has it: its server may be on another host by now. Raises SiteError."""
    observed = await storage.get(name)
    if observed is None and inputs.gone:
        return _Result(refused=True)
    if observed is None and inputs.spec is None:
        return _Result(why="its server does not run")
    return _Result(observed or await storage.put(name, cast("SnapshotSpec", inputs.spec)))


async def _apply(connection: AsyncConnection, snapshot: Snapshot, result: _Result) -> Outcome:
    observed = result.observed
    if snapshot.state is _S.CREATING and result.refused:
        await SNAPSHOTS.move(connection, snapshot, _S.ERROR, reason=_REFUSED, event="failed")
        return Done()
    size = snapshot.size_gib or (None if observed is None else observed.size_gib)
    if snapshot.state is _S.CREATING and size is not None and observed is not None and observed.state is AtSite.READY:
        sized = snapshot._replace(size_gib=size)
        await SNAPSHOTS.move(connection, sized, _S.AVAILABLE, event="available")
        await open_stored(connection, project_id=snapshot.project_id, resource_id=snapshot.id)
        return Done()
    if snapshot.state is _S.DELETING and observed is None and result == _Result():
        await SNAPSHOTS.move(connection, snapshot, _S.DELETED, event="deleted")
        return Done()
    why = result.why or ("its site refuses it for now" if result.refused else None)
    await SNAPSHOTS.note(connection, snapshot, why)
    return Wait(why or "its site copies it", recheck=WAITING_SECONDS)
