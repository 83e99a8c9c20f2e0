"""Addresses over the site's HTTP interface."""

from __future__ import annotations

from ipucloud.site.calls import Call
from ipucloud.site.http import HttpCalls
from ipucloud.wire.addresses import Address, AddressAttachment, AddressSpec


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
