"""Volumes: storage that outlives clusters."""

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
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.api.writes import actor, change
from ipucloud.clusters.volumes import store
from ipucloud.clusters.volumes.queries import GET_VOLUME, LIST_VOLUMES, volume_document
from ipucloud.contract.volumes import (
    VolumeAttach,
    VolumeCreate,
    VolumeList,
    VolumeOut,
    VolumePage,
    VolumePatch,
    VolumeResize,
)
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

_ALL = "/v1/projects/{project}/volumes"
_ONE = _ALL + "/{volume:ref}"
_COSTS = (BUDGET_REACHED, COST_LIMIT_REACHED, PAYMENT_OVERDUE, QUOTA_EXCEEDED, STATE_CONFLICT)
VolumeId = Annotated[UUID, Field(description="Id of the volume, or its name.")]


@routes.post(
    _ALL,
    **operation(
        "createVolume",
        "Create a volume",
        Permission.CLUSTER_WRITE,
        gives=VolumeOut,
        status=202,
        errors=(NAME_TAKEN, *_COSTS),
    ),
)
async def create_volume(request: Request, project: ProjectRef, body: VolumeCreate) -> Response:
    """Create a volume, which is billed by the GiB and minute from when it is `available` until it is deleted."""

    async def effect(connection: AsyncConnection, scope: Scope) -> Answer:
        catalogue, settings = catalogue_of(request), services_of(request).settings
        volume_id = await store.create(connection, actor(request, scope), body, catalogue=catalogue, settings=settings)
        document = await volume_document(connection, project_id=scope.project_id, volume_id=volume_id)
        location = f"/v1/projects/{scope.project_id}/volumes/{volume_id}"
        return Answer(202, document.encode(), {"Location": location}, volume_id)

    return await change(request, project, effect)


@routes.get(_ALL, **operation("listVolumes", "List volumes", Permission.CLUSTER_READ, gives=VolumePage))
async def list_volumes(request: Request, project: ProjectRef, query: VolumeList) -> Response:
    """List the project's volumes, newest first. Deleted ones are listed where `state` asks for them."""
    return await list_of(request, project, LIST_VOLUMES, query)


@routes.get(_ONE, **operation("getVolume", "Read a volume", Permission.CLUSTER_READ, gives=VolumeOut))
async def get_volume(request: Request, project: ProjectRef, volume: VolumeId) -> Response:
    """Return a volume, and the server that has it."""
    document, _ = await read_one(request, GET_VOLUME, project, volume_id=volume)
    return Response(document, media_type=JSON)


@routes.patch(
    _ONE,
    **operation(
        "updateVolume",
        "Change a volume",
        Permission.CLUSTER_WRITE,
        gives=VolumeOut,
        errors=(NAME_TAKEN, STATE_CONFLICT),
    ),
)
async def update_volume(request: Request, project: ProjectRef, volume: VolumeId, body: VolumePatch) -> Response:
    """Change the name or the tags of a volume. Its size is changed by `:resize`."""
    return await _changed(request, project, volume, lambda on, by: store.change(on, by, volume, body))


@routes.post(
    _ONE + ":attach",
    **operation(
        "attachVolume",
        "Attach a volume",
        Permission.CLUSTER_WRITE,
        gives=VolumeOut,
        status=202,
        errors=(STATE_CONFLICT,),
    ),
)
async def attach_volume(request: Request, project: ProjectRef, volume: VolumeId, body: VolumeAttach) -> Response:
    """Let a Poplar server of a cluster in use have the volume, at `/volumes/<name>`; one server at a time."""
    return await _changed(request, project, volume, lambda on, by: store.attach(on, by, volume, body), status=202)


@routes.post(
    _ONE + ":detach",
    **operation(
        "detachVolume",
        "Detach a volume",
        Permission.CLUSTER_WRITE,
        gives=VolumeOut,
        status=202,
        errors=(STATE_CONFLICT,),
    ),
)
async def detach_volume(request: Request, project: ProjectRef, volume: VolumeId) -> Response:
    """Take the volume from its server. Its files stay; programs that have some of them open lose them."""
    return await _changed(request, project, volume, lambda on, by: store.detach(on, by, volume), status=202)


@routes.post(
    _ONE + ":resize",
    **operation(
        "resizeVolume", "Let a volume grow", Permission.CLUSTER_WRITE, gives=VolumeOut, status=202, errors=_COSTS
    ),
)
async def resize_volume(request: Request, project: ProjectRef, volume: VolumeId, body: VolumeResize) -> Response:
    """Let a volume grow, whether a server has it or not. It is billed for the new size from when it has it."""
    settings = services_of(request).settings
    return await _changed(
        request,
        project,
        volume,
        lambda on, by: store.resize(on, by, volume, body, settings=settings),
        status=202,
    )


@routes.delete(
    _ONE,
    **operation(
        "deleteVolume",
        "Delete a volume",
        Permission.CLUSTER_WRITE,
        gives=VolumeOut,
        status=202,
        errors=(IN_USE, STATE_CONFLICT),
    ),
)
async def delete_volume(request: Request, project: ProjectRef, volume: VolumeId) -> Response:
    """Delete a volume that no server has, with its data. It is billed until now."""
    return await _changed(request, project, volume, lambda on, by: store.delete(on, by, volume), status=202)


async def _changed(
    request: Request,
    project: str,
    volume: UUID,
    effect: Callable[[AsyncConnection, Actor], Awaitable[None]],
    *,
    status: int = 200,
) -> Response:
    """Change a volume; the answer shows it afterwards."""

    async def changed(connection: AsyncConnection, scope: Scope) -> Answer:
        await effect(connection, actor(request, scope))
        document = await volume_document(connection, project_id=scope.project_id, volume_id=volume)
        return Answer(status, document.encode(), subject_id=volume)

    return await change(request, project, changed)
