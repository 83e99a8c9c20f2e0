"""Volumes, snapshots and public addresses over the site's HTTP interface."""

from __future__ import annotations

from ipucloud.site.calls import Call
from ipucloud.site.http import HttpCalls
from ipucloud.wire.storage import (
    Address,
    AddressAttachment,
    AddressSpec,
    Snapshot,
    SnapshotSpec,
    Volume,
    VolumeAttachment,
    VolumeSpec,
)


class HttpAddresses:
    def __init__(self, calls: HttpCalls) -> None:
        self._calls = calls

    async def get(self, name: str) -> Address | None:
        return await self._calls.read(Call.GET_ADDRESS, "GET", f"/v1/addresses/{name}", Address)

    async def put(self, name: str, spec: AddressSpec) -> Address:
        return await self._calls.must(Call.PUT_ADDRESS, "PUT", f"/v1/addresses/{name}", Address, body=spec)

    async def attach(self, name: str, attachment: AddressAttachment) -> Address | None:
        path = f"/v1/addresses/{name}/attachment"
        return await self._calls.read(Call.ATTACH_ADDRESS, "PUT", path, Address, body=attachment)

    async def delete(self, name: str) -> None:
        await self._calls.call(Call.DELETE_ADDRESS, "DELETE", f"/v1/addresses/{name}")


class HttpSnapshots:
    def __init__(self, calls: HttpCalls) -> None:
        self._calls = calls

    async def get(self, name: str) -> Snapshot | None:
        return await self._calls.read(Call.GET_SNAPSHOT, "GET", f"/v1/snapshots/{name}", Snapshot)

    async def put(self, name: str, spec: SnapshotSpec) -> Snapshot:
        return await self._calls.must(Call.PUT_SNAPSHOT, "PUT", f"/v1/snapshots/{name}", Snapshot, body=spec)

    async def delete(self, name: str) -> None:
        await self._calls.call(Call.DELETE_SNAPSHOT, "DELETE", f"/v1/snapshots/{name}")


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
