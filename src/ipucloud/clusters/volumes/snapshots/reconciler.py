"""Brings a snapshot to the state that was requested: has its site take it, or delete it.

A request whose outcome is unknown is repeated under the same name, which shows what became of it.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_stored
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS, Snapshot, lock, move, note, report
from ipucloud.contract.event_types.projects import SNAPSHOT_AVAILABLE, SNAPSHOT_DELETED, SNAPSHOT_FAILED
from ipucloud.contract.snapshots import SnapshotState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.errors import SiteError, SiteRefused
from ipucloud.site.ports import Sites
from ipucloud.wire.snapshots import Snapshot as Seen
from ipucloud.wire.snapshots import SnapshotSpec
from ipucloud.wire.snapshots import SnapshotState as AtSite

log = structlog.get_logger(__name__)

WAITING_SECONDS = 5.0
"""Between two attempts while the site copies, does not answer, or refuses for now."""

_S = SnapshotState
_AT_REST = frozenset({_S.AVAILABLE, _S.DELETED, _S.ERROR})
_UNKNOWN = "its site does not answer, or has to wait"
_REFUSED = "The site refused to take it. Delete it."


class SnapshotInputs(NamedTuple):
    """`volume`: the name that the site knows the volume by."""

    leased: bool
    id: UUID | None
    project_id: UUID | None
    region: str | None
    external_name: str | None
    volume: str | None
    state: SnapshotState | None


class _Result(NamedTuple):
    """What the site shows, None: no such snapshot; or `refused`: it does not take one; or `why` nothing is known."""

    seen: Seen | None = None
    refused: bool = False
    why: str | None = None


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, s.id, s.project_id, s.region, s.external_name,
           v.external_name AS volume, s.state
      FROM work AS w LEFT JOIN snapshots AS s ON s.id = CAST(w.key AS uuid)
      LEFT JOIN volumes AS v ON (v.project_id, v.id) = (s.project_id, s.volume_id)
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    SnapshotInputs,
)


class SnapshotReconciler:
    """One snapshot."""

    kind = SNAPSHOTS

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
                spec = SnapshotSpec(region=inputs.region or "", volume=inputs.volume or "")
                return _Result(await storage.put(name, spec))
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
        snapshot = await lock(connection, project_id=inputs.project_id, snapshot_id=inputs.id)
        if snapshot.state != inputs.state:
            return Go()  # a request came meanwhile
        outcome = await _apply(connection, snapshot, result)
        failpoint("snapshot.recorded")
        return outcome


async def _apply(connection: AsyncConnection, snapshot: Snapshot, result: _Result) -> Outcome:
    seen = result.seen
    if snapshot.state is _S.CREATING and result.refused:
        await report(connection, SNAPSHOT_FAILED, await move(connection, snapshot, _S.ERROR, reason=_REFUSED))
        return Done()
    if snapshot.state is _S.CREATING and seen is not None and seen.state is AtSite.READY:
        await report(connection, SNAPSHOT_AVAILABLE, await move(connection, snapshot, _S.AVAILABLE))
        await open_stored(connection, project_id=snapshot.project_id, resource_id=snapshot.id)
        return Done()
    if snapshot.state is _S.DELETING and seen is None and result == _Result():
        await report(connection, SNAPSHOT_DELETED, await move(connection, snapshot, _S.DELETED))
        return Done()
    why = result.why or ("its site refuses it for now" if result.refused else None)
    await note(connection, snapshot, why)
    return Wait(why or "its site copies the volume", recheck=WAITING_SECONDS)
