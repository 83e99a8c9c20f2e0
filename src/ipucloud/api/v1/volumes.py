"""Volumes: storage that outlives clusters."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.resources import COSTS, AttachableRoutes
from ipucloud.api.routing import router
from ipucloud.api.services import catalogue_of, services_of
from ipucloud.api.shapes import ProjectRef
from ipucloud.clusters.volumes import store
from ipucloud.clusters.volumes.record import DOCUMENTS, VOLUMES
from ipucloud.contract.volumes import (
    VolumeAttach,
    VolumeCreate,
    VolumeList,
    VolumeOut,
    VolumePage,
    VolumePatch,
    VolumeResize,
)

routes = router()
_volumes = AttachableRoutes(routes, __name__, VOLUMES, DOCUMENTS, VolumeOut)
VolumeId = Annotated[UUID, Field(description="Id of the volume, or its name.")]


@_volumes.create("Create a volume")
async def create_volume(request: Request, project: ProjectRef, body: VolumeCreate) -> Response:
    """Create a volume, which is billed by the GiB and minute from when it is `available` until it is deleted."""
    catalogue, settings = catalogue_of(request), services_of(request).settings
    return await _volumes.created(
        request, project, lambda on, by: store.create(on, by, body, catalogue=catalogue, settings=settings)
    )


_volumes.list(VolumeList, VolumePage)
_volumes.get("Return a volume, and the server that has it.")
_volumes.patch(VolumePatch, "Change the name or the tags of a volume. Its size is changed by `:resize`.")
_volumes.attach(
    VolumeAttach,
    "Let a Poplar server of a cluster in use have the volume, at `/volumes/<name>`; one server at a time.",
)
_volumes.detach("Take the volume from its server. Its files stay; programs that have some of them open lose them.")


@_volumes.action("resize", "Let a volume grow", errors=COSTS)
async def resize_volume(request: Request, project: ProjectRef, volume: VolumeId, body: VolumeResize) -> Response:
    """Let a volume grow, whether a server has it or not. It is billed for the new size from when it has it."""
    settings = services_of(request).settings
    return await _volumes.changed(
        request, project, volume, lambda on, by: store.resize(on, by, volume, body, settings=settings)
    )


_volumes.delete("Delete a volume that no server has, with its data. It is billed until now.")
