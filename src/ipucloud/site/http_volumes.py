"""Volumes over the site's HTTP interface."""

from __future__ import annotations

from ipucloud.site.calls import Call
from ipucloud.site.http import HttpCalls
from ipucloud.wire.volumes import Volume, VolumeAttachment, VolumeSpec


class HttpVolumes:
    def __init__(self, calls: HttpCalls) -> None:
        self._calls = calls

    async def get(self, name: str) -> Volume | None:
        return await self._calls.read(Call.GET_VOLUME, "GET", f"/v1/volumes/{name}", Volume)

    async def put(self, name: str, spec: VolumeSpec) -> Volume:
        return await self._calls.must(Call.PUT_VOLUME, "PUT", f"/v1/volumes/{name}", Volume, body=spec)

    async def attach(self, name: str, attachment: VolumeAttachment) -> Volume | None:
        path = f"/v1/volumes/{name}/attachment"
        return await self._calls.read(Call.ATTACH_VOLUME, "PUT", path, Volume, body=attachment)

    async def delete(self, name: str) -> None:
        await self._calls.call(Call.DELETE_VOLUME, "DELETE", f"/v1/volumes/{name}")
