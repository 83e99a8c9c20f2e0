"""Snapshots of volumes over the site's HTTP interface."""

from __future__ import annotations

from ipucloud.site.calls import Call
from ipucloud.site.http import HttpCalls
from ipucloud.wire.snapshots import Snapshot, SnapshotSpec


class HttpSnapshots:
    def __init__(self, calls: HttpCalls) -> None:
        self._calls = calls

    async def get(self, name: str) -> Snapshot | None:
        return await self._calls.read(Call.GET_SNAPSHOT, "GET", f"/v1/snapshots/{name}", Snapshot)

    async def put(self, name: str, spec: SnapshotSpec) -> Snapshot:
        return await self._calls.must(Call.PUT_SNAPSHOT, "PUT", f"/v1/snapshots/{name}", Snapshot, body=spec)

    async def delete(self, name: str) -> None:
        await self._calls.call(Call.DELETE_SNAPSHOT, "DELETE", f"/v1/snapshots/{name}")
