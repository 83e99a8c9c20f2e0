"""Snapshots: copies of volumes and of servers, from which new ones are made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

from pydantic import Field
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import JSON
from ipucloud.api.idempotency import Answer
from ipucloud.api.paging import list_of
from ipucloud.api.reads import read_one
from ipucloud.api.routing import operation, router
from ipucloud.api.services import services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.writes import actor, change
from ipucloud.clusters.volumes.snapshots import store
from ipucloud.clusters.volumes.snapshots.queries import GET_SNAPSHOT, LIST_SNAPSHOTS, snapshot_document
from ipucloud.contract.snapshots import SnapshotCreate, SnapshotList, SnapshotOut, SnapshotPage, SnapshotPatch
from ipucloud.identity.access import Scope
from ipucloud.identity.roles import Permission
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    BUDGET_REACHED,
    COST_LIMIT_REACHED,
    IN_USE,
    NAME_TAKEN,
    PAYMENT_OVERDUE,
    QUOTA_EXCEEDED,
    STATE_CONFLICT,
)

routes = router()

_ALL = "/v1/projects/{project}/snapshots"
_ONE = _ALL + "/{snapshot:ref}"
SnapshotId = Annotated[UUID, Field(description="Id of the snapshot, or its name.")]


@routes.post(
    _ALL,
    **operation(
        "createSnapshot",
        "Take a snapshot",
        Permission.CLUSTER_WRITE,
        gives=SnapshotOut,
        status=202,
        errors=(NAME_TAKEN, BUDGET_REACHED, COST_LIMIT_REACHED, PAYMENT_OVERDUE, QUOTA_EXCEEDED, STATE_CONFLICT),
    ),
)
async def create_snapshot(request: Request, project: ProjectRef, body: SnapshotCreate) -> Response:
    """Copy a volume, whether a server has it or not, or the disk of a Poplar server, as it is when the site begins.

    It is billed by the GiB and minute from when it is `available` until it is deleted. What a program has not written
    by then, or has written half, is so in the snapshot too. One of a server can be the `image` of new servers.
    """

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        snapshot_id = await store.create(
            connection, actor(request, scope), body, settings=services_of(request).settings
        )
        document = await snapshot_document(connection, project_id=scope.project_id, snapshot_id=snapshot_id)
        location = f"/v1/projects/{scope.project_id}/snapshots/{snapshot_id}"
        return Answer(202, document.encode(), {"Location": location}, snapshot_id)

    return await change(request, project, effect)


@routes.get(_ALL, **operation("listSnapshots", "List snapshots", Permission.CLUSTER_READ, gives=SnapshotPage))
async def list_snapshots(request: Request, project: ProjectRef, query: SnapshotList) -> Response:
    """List the project's snapshots, newest first. Deleted ones are listed where `state` asks for them."""
    return await list_of(request, project, LIST_SNAPSHOTS, query)


@routes.get(_ONE, **operation("getSnapshot", "Read a snapshot", Permission.CLUSTER_READ, gives=SnapshotOut))
async def get_snapshot(request: Request, project: ProjectRef, snapshot: SnapshotId) -> Response:
    """Return a snapshot."""
    document, _ = await read_one(request, GET_SNAPSHOT, project, snapshot_id=snapshot)
    return Response(document, media_type=JSON)


@routes.patch(
    _ONE,
    **operation(
        "updateSnapshot",
        "Change a snapshot",
        Permission.CLUSTER_WRITE,
        gives=SnapshotOut,
        errors=(NAME_TAKEN, STATE_CONFLICT),
    ),
)
async def update_snapshot(request: Request, project: ProjectRef, snapshot: SnapshotId, body: SnapshotPatch) -> Response:
    """Change the name or the tags of a snapshot."""
    return await _changed(request, project, snapshot, lambda on, by: store.change(on, by, snapshot, body))


@routes.delete(
    _ONE,
    **operation(
        "deleteSnapshot",
        "Delete a snapshot",
        Permission.CLUSTER_WRITE,
        gives=SnapshotOut,
        status=202,
        errors=(IN_USE, STATE_CONFLICT),
    ),
)
async def delete_snapshot(request: Request, project: ProjectRef, snapshot: SnapshotId) -> Response:
    """Delete a snapshot that no cluster's servers are made from. Volumes that were made from it stay as they are.

    It is billed until now.
    """
    return await _changed(request, project, snapshot, lambda on, by: store.delete(on, by, snapshot), status=202)


async def _changed(
    request: Request,
    project: str,
    snapshot: UUID,
    effect: Callable[[AsyncConnection, Actor], Awaitable[None]],
    *,
    status: int = 200,
) -> Response:
    """Change a snapshot; the answer shows it afterwards."""

    async def changed(connection: AsyncConnection, scope: Scope) -> Answer:
        await effect(connection, actor(request, scope))
        document = await snapshot_document(connection, project_id=scope.project_id, snapshot_id=snapshot)
        return Answer(status, document.encode(), subject_id=snapshot)

    return await change(request, project, changed)
