"""Snapshots: copies of volumes and of servers, from which new ones are made."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.resources import ResourceRoutes
from ipucloud.api.routing import router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.clusters.volumes.snapshots import store
from ipucloud.clusters.volumes.snapshots.record import DOCUMENTS, SNAPSHOTS
from ipucloud.contract.snapshots import SnapshotCreate, SnapshotList, SnapshotOut, SnapshotPage, SnapshotPatch

routes = router()
_snapshots = ResourceRoutes(routes, __name__, SNAPSHOTS, DOCUMENTS, SnapshotOut)


@_snapshots.create("Take a snapshot")
async def create_snapshot(request: Request, project: ProjectRef, body: SnapshotCreate) -> Response:
    """Copy a volume, whether a server has it or not, or the disk of a Poplar server, as it is when the site begins.

    It is billed by the GiB and minute from when it is `available` until it is deleted. What a program has not written
    by then, or has written half, is so in the snapshot too. One of a server can be the `image` of new servers.
    """
    settings = services_of(request).settings
    return await _snapshots.created(request, project, lambda on, by: store.create(on, by, body, settings=settings))


_snapshots.list(SnapshotList, SnapshotPage)
_snapshots.get("Return a snapshot.")
_snapshots.patch(SnapshotPatch, "Change the name or the tags of a snapshot.")
_snapshots.delete(
    "Delete a snapshot that no cluster's servers are made from. Volumes that were made from it stay as they are.\n\n"
    "It is billed until now."
)
