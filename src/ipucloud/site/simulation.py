"""Faults of a simulated site, over the part of its HTTP interface that no real site has (`ipucloud.wire.site`)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import NamedTuple

import httpx

from ipucloud.site.ports import SiteBusy, SiteRefused, SiteUnknown
from ipucloud.wire.base import Wire
from ipucloud.wire.faults import FaultAction, FaultRule, LinkFault

SLOW_SECONDS = 5.0
"""How late V-IPU controllers answer that are slow."""
_CALLS = ("vipu", "admin")
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class _Request(NamedTuple):
    method: str
    path: str
    body: Wire | None = None
    done_if_missing: bool = False


class HttpSimulation:
    """Implements `ipucloud.site.ports.Simulation`."""

    def __init__(self, client: httpx.AsyncClient, call_timeout: float) -> None:
        self._client = client
        self._call_timeout = call_timeout

    async def set_fault(self, fault: str, kind: str, name: str, link: str | None, *, broken: bool) -> None:
        for each in _requests(fault, kind, name, link, broken=broken):
            await self._send(each)

    async def _send(self, request: _Request) -> None:
        what = f"{request.method} {request.path}"
        body = None if request.body is None else request.body.model_dump(mode="json")
        try:
            async with asyncio.timeout(self._call_timeout):
                response = await self._client.request(request.method, request.path, json=body)
        except _NOT_SENT as error:
            raise SiteBusy(f"{what}: the site cannot be reached") from error
        except (httpx.HTTPError, TimeoutError) as error:
            raise SiteUnknown(f"{what}: no answer ({type(error).__name__})") from error
        if response.status_code == httpx.codes.NOT_FOUND and request.done_if_missing:
            return
        if response.is_server_error:
            raise SiteUnknown(f"{what}: status {response.status_code}")
        if response.is_error:
            raise SiteRefused(f"{what}: status {response.status_code}")


def _requests(fault: str, kind: str, name: str, link: str | None, *, broken: bool) -> Iterator[_Request]:
    verb = "fail" if broken else "repair"
    if kind == "controllers":
        for calls in _CALLS:
            rule = f"{fault}-{calls}"
            if broken:
                slow = FaultRule(id=rule, call=f"{calls}.*", action=FaultAction.LATENCY, seconds=SLOW_SECONDS)
                yield _Request("POST", "/v1/faults", slow)
            else:
                yield _Request("DELETE", f"/v1/faults?id={rule}", done_if_missing=True)
    elif kind == "link":
        yield _Request("POST", f"/v1/machines/{name}/links/{link}:{verb}", LinkFault() if broken else None)
    else:
        yield _Request("POST", f"/v1/{kind}s/{name}:{verb}")
