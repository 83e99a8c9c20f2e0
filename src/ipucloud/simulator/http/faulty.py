"""What surrounds every route: fault rules, refusals as problem documents, and durability before the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from ipucloud.simulator.faults import FaultBook
from ipucloud.simulator.http.protocol import break_connection, silence
from ipucloud.simulator.refusal import Refusal
from ipucloud.wire.site import FaultAction

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class Surrounded(Protocol):
    """What a route needs of the site around it."""

    @property
    def faults(self) -> FaultBook: ...

    async def settled(self) -> None: ...


def route_class(site: Surrounded) -> type[APIRoute]:
    """A route whose name is the call that fault rules match, and whose first path parameter is the target."""

    class SiteRoute(APIRoute):
        def get_route_handler(self) -> Handler:
            original = super().get_route_handler()
            call = self.name

            async def handle(request: Request) -> Response:
                target = next(iter(request.path_params.values()), "")
                return await _through_faults(site, request, call, target, original)

            return handle

    return SiteRoute


async def _through_faults(site: Surrounded, request: Request, call: str, target: str, original: Handler) -> Response:
    plan = site.faults.plan(call, target)
    await asyncio.sleep(plan.latency)
    if plan.action is FaultAction.STATUS:
        return problem(plan.status, f"fault rule {plan.rule}")
    if plan.action is FaultAction.STALL:
        return await silence(request)
    response = await answered(site.settled, original, request)
    if plan.action is FaultAction.STATUS_AFTER:
        return problem(plan.status, f"fault rule {plan.rule}")
    if plan.action is FaultAction.DROP_ANSWER:
        await asyncio.sleep(plan.seconds)
        return await break_connection(request)
    return response


async def answered(settled: Callable[[], Awaitable[None]], original: Handler, request: Request) -> Response:
    """The answer of a handler, once what it tells is on disk; a refusal becomes a problem document."""
    try:
        response = await original(request)
    except Refusal as refusal:
        response = problem(refusal.reason.http_status, refusal.sentence)
    await settled()
    return response


def problem(status: int, sentence: str) -> JSONResponse:
    """A refusal or fault as `application/problem+json`."""
    return JSONResponse(
        {"status": status, "detail": sentence}, status_code=status, media_type="application/problem+json"
    )
