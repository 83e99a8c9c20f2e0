"""The routes of volumes and of their snapshots."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import Route

from ipucloud.laboratory.simulator.http.calls import Calls, body_of
from ipucloud.laboratory.simulator.site import Site
from ipucloud.wire.storage import Snapshot, SnapshotSpec, Volume, VolumeAttachment, VolumeSpec


def storage_routes(site: Site, calls: Calls) -> list[Route]:
    """What `ipucloud.laboratory.simulator.http.app` offers of storage."""
    return [*_volumes(site, calls), *_snapshots(site, calls)]


def _volumes(site: Site, calls: Calls) -> list[Route]:
    volumes = site.volumes

    async def get_volume(request: Request) -> Volume:
        return volumes.get(request.path_params["name"])

    async def put_volume(request: Request) -> Volume:
        return await volumes.put(request.path_params["name"], await body_of(request, VolumeSpec))

    async def attach_volume(request: Request) -> Volume:
        attachment = await body_of(request, VolumeAttachment)
        return await volumes.attach(request.path_params["name"], attachment, site.host_servers.check_runs)

    async def delete_volume(request: Request) -> None:
        await volumes.delete(request.path_params["name"])

    volume = "/v1/volumes/{name}"
    return [
        calls.route("GET", volume, "volumes.get", get_volume),
        calls.route("PUT", volume, "volumes.put", put_volume),
        calls.route("PUT", f"{volume}/attachment", "volumes.attach", attach_volume),
        calls.route("DELETE", volume, "volumes.delete", delete_volume),
    ]


def _snapshots(site: Site, calls: Calls) -> list[Route]:
    snapshots = site.snapshots

    async def get_snapshot(request: Request) -> Snapshot:
        return snapshots.get(request.path_params["name"])

    async def put_snapshot(request: Request) -> Snapshot:
        return await snapshots.put(request.path_params["name"], await body_of(request, SnapshotSpec))

    async def delete_snapshot(request: Request) -> None:
        await snapshots.delete(request.path_params["name"])

    snapshot = "/v1/snapshots/{name}"
    return [
        calls.route("GET", snapshot, "snapshots.get", get_snapshot),
        calls.route("PUT", snapshot, "snapshots.put", put_snapshot),
        calls.route("DELETE", snapshot, "snapshots.delete", delete_snapshot),
    ]
