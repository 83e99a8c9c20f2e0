"""Liveness and readiness of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response

from ipucloud import __version__
from ipucloud.api.etag import JSON
from ipucloud.api.routing import FoundRoute
from ipucloud.api.services import Services, services_of
from ipucloud.db import schema_check
from ipucloud.kernel.errors import UNAVAILABLE, Problem

PING_SECONDS = 1.0
CACHED_SECONDS = 2.0
WATCHED_SECONDS = 30.0


class LivenessOut(BaseModel):
    """The process runs and answers."""

    status: str
    version: str = Field(description="Version of the service.")


class StatusOut(BaseModel):
    """Whether the process can serve requests."""

    status: str


ALIVE = LivenessOut(status="alive", version=__version__).model_dump_json().encode()


class Readiness:
    """The last database check: at most one per `CACHED_SECONDS`, taking at most `PING_SECONDS`."""

    def __init__(self) -> None:
        self._polled_at = self._looked_at = float("-inf")
        self._fault: str | None = None

    def watched(self, services: Services) -> bool:
        """True if readiness is polled, so that a poller must be shown the drain before the listener closes."""
        return services.clock.monotonic() - self._polled_at < WATCHED_SECONDS

    async def fault(self, services: Services) -> str | None:
        """Why the process is not ready, or None."""
        now = self._polled_at = services.clock.monotonic()
        if services.draining.is_set():
            return "The process is draining."
        if now - self._looked_at >= CACHED_SECONDS:
            self._fault = await _check(services)
            self._looked_at = services.clock.monotonic()
        return self._fault


async def _check(services: Services) -> str | None:
    try:
        async with asyncio.timeout(PING_SECONDS):
            state = await schema_check.state_of(_read_state(services))
    except (Problem, TimeoutError):
        return "The database does not answer."
    if state.now is not None:
        services.metrics.clock_skew.record(services.clock.now(), state.now)
    return schema_check.fault_of(state.revision)


async def _read_state(services: Services) -> schema_check.State:
    return await services.reader.one(schema_check.STATE, {}) or schema_check.State("", None)


async def livez(_: Request) -> Response:
    """Respond while the process runs, even if the database does not: its outage is no reason to restart."""
    return Response(ALIVE, media_type=JSON)


async def readyz(request: Request) -> Response:
    """Respond with 200 if the database responds with the expected schema and the process is not draining, else 503."""
    readiness: Readiness = request.app.state.readiness
    fault = await readiness.fault(services_of(request))
    if fault is not None:
        raise Problem(UNAVAILABLE, fault, headers={"Retry-After": "2"})
    return Response(b'{"status":"ready"}', media_type=JSON)


class HealthRoute(FoundRoute):
    """It is for everybody, has no errors of its own, and is described in the OpenAPI document as others are."""

    def __init__(
        self, endpoint: Callable[[Request], Awaitable[Response]], summary: str, model: type[BaseModel]
    ) -> None:
        name = endpoint.__name__
        super().__init__(f"/{name}", endpoint)
        self.methods = {"GET"}  # `Edge` answers HEAD
        self.description = {
            "operation_id": name,
            "summary": summary,
            "response_model": model,
            "tags": ["health"],
        }


routes = [HealthRoute(livez, "Check liveness", LivenessOut), HealthRoute(readyz, "Check readiness", StatusOut)]
