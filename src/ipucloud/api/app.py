"""The application: every route, wrapped in middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Lifespan

from ipucloud.admin.events import OPERATORS
from ipucloud.api import back_channel, health, pages, reference
from ipucloud.api.attempts import Attempts
from ipucloud.api.compression import Compression
from ipucloud.api.cookies import Devices, SessionPaths
from ipucloud.api.credentials import UsedTokens
from ipucloud.api.edge import Edge
from ipucloud.api.limits import RateLimit, RateLimiter
from ipucloud.api.metrics import Metrics
from ipucloud.api.nouns import every_route
from ipucloud.api.panel import Panel, panel_of
from ipucloud.api.problems import problem_response
from ipucloud.api.routing import allowed_methods
from ipucloud.api.services import Services
from ipucloud.api.shared_limits import SharedLimits
from ipucloud.api.streams import Followers, Streams
from ipucloud.api.v1 import terminals
from ipucloud.api.v1.all import NOUNS
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.db.reader import Reader
from ipucloud.events.following import Follower
from ipucloud.events.news import ACCOUNTS, PROJECTS
from ipucloud.http.unread import Unread
from ipucloud.identity.passwords import Passwords
from ipucloud.identity.providers import Providers
from ipucloud.kernel.clock import Clock, SystemClock
from ipucloud.kernel.errors import METHOD_NOT_ALLOWED, Problem, not_found
from ipucloud.parts import PARTS
from ipucloud.reconcile.wake import Notifier

APPLICATION = "ipucloud api"
"""The name of this process's connections in PostgreSQL's `pg_stat_activity`."""
_END_SECONDS = 12.0
"""For tasks to end, longer than a statement may run: a database that answers no more must not keep the process."""


class Application(FastAPI):
    """The whole API. Its documentation is made when it is asked for, and served by routes of its own."""

    @cached_property
    def document(self) -> dict[str, Any]:
        """The OpenAPI document."""
        from ipucloud.api.document import build

        return build(self.routes)

    def openapi(self) -> dict[str, Any]:
        return self.document


def create_app(settings: Settings, *, clock: Clock | None = None) -> Application:
    """The ASGI application of one process. Raises CatalogueError.

    Entering its lifespan builds the services of handlers without connecting: the first query connects to the
    database. Raises ValueError there when no database is configured.
    """
    clock = clock or SystemClock()
    catalogue = CurrentCatalogue(settings.catalogue)
    metrics = Metrics()
    metrics.registry.register(catalogue)
    used = UsedTokens(settings.session_idle_seconds)
    tokens, addresses = (
        RateLimiter(name, settings.rate_limit_per_second, settings.rate_limit_burst, clock)
        for name in ("token", "address")
    )
    projects = RateLimiter("project", settings.project_rate_limit_per_second, settings.project_rate_limit_burst, clock)
    app = Application(
        routes=[
            NOUNS,
            *health.routes,
            *reference.routes,
            *pages.routes,
            *terminals.routes,
            *back_channel.routes,
        ],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan(settings, catalogue, clock, metrics, used, limiters=(tokens, projects, addresses)),
    )
    app.state.readiness = health.Readiness()
    app.state.metrics = metrics
    app.state.panel = Panel()
    app.state.reference = reference.Reference()
    app.state.used = used
    app.state.catalogue = catalogue
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(Compression)
    limits = {"tokens": tokens, "projects": projects, "addresses": addresses}
    app.add_middleware(RateLimit, **limits, metrics=metrics, used=used, clock=clock)
    app.add_middleware(Edge, clock=clock, metrics=metrics, unread=Unread(settings.unread_limit))
    app.add_middleware(SessionPaths)
    return app


def _lifespan(
    settings: Settings,
    catalogue: CurrentCatalogue,
    clock: Clock,
    metrics: Metrics,
    used: UsedTokens,
    *,
    limiters: tuple[RateLimiter, ...],
) -> Lifespan[Application]:
    @asynccontextmanager
    async def lifespan(app: Application) -> AsyncIterator[None]:
        if settings.database_url is None:
            raise ValueError("the API needs IPUCLOUD_DATABASE_URL")
        url = settings.database_url.get_secret_value()
        size, wait = settings.database_pool_size, settings.database_pool_timeout
        database = Database(url, pool_size=size, pool_timeout=wait, application=APPLICATION, planned_once=True)
        notifier = Notifier(url, APPLICATION)
        devices = Devices(settings.sealing_keys())
        services = Services(
            settings=settings,
            catalogue=catalogue,
            database=database,
            reader=Reader(url, size=size, wait=wait, application=APPLICATION),
            notifier=notifier,
            clock=clock,
            metrics=metrics,
            streams=Streams(settings, metrics),
            followers=Followers(*(Follower(feed, database, clock) for feed in (PROJECTS, ACCOUNTS, OPERATORS))),
            passwords=Passwords(),
            attempts=Attempts(clock, devices),
            devices=devices,
            providers=Providers(settings.oidc_providers, clock),
        )
        metrics.stream_lag.set_function(services.followers.lag)
        metrics.transactions_waiting.set_function(lambda: database.waiting)
        app.state.services = services
        await services.notifier.start()
        keeping = (
            asyncio.create_task(used.keep(services.database, clock), name="last-use"),
            asyncio.create_task(catalogue.keep(), name="catalogue"),
            asyncio.create_task(
                SharedLimits((*limiters, *services.attempts.limiters)).keep(database, clock), name="limits"
            ),
            *(asyncio.create_task(each.run(), name="event-follower") for each in services.followers),
            asyncio.create_task(_end_streams(services), name="streams-end"),
        )
        try:
            async with AsyncExitStack() as running:
                for part in PARTS:
                    if part.running and part.installed:
                        made = part.load("running:running")(services)
                        services.parts[part.name] = await running.enter_async_context(made)
                yield
        finally:
            for task in keeping:
                task.cancel()
            await asyncio.wait(keeping, timeout=_END_SECONDS)
            await used.flush(services.database)
            await services.providers.close()
            await services.notifier.close()
            await services.reader.close()
            await services.database.close()

    return lifespan


async def _end_streams(services: Services) -> None:
    await services.draining.wait()
    for follower in services.followers:
        follower.finish()


async def _problem(request: Request, problem: Exception) -> Response:
    if not isinstance(problem, Problem):
        raise problem
    return problem_response(problem, request.scope)


async def _refused(request: Request, refusal: Exception) -> Response:
    """What no route answers: files and pages of the panel, unknown paths, and methods that a path does not support."""
    if not isinstance(refusal, HTTPException):
        raise refusal
    allow = allowed_methods(every_route(request.app.routes, request.scope["path"]), request.scope)
    if not allow:
        response = panel_of(request).find(request)
        if response is not None:
            return response
        return problem_response(not_found(), request.scope)
    if request.method == "OPTIONS":
        return Response(status_code=204, headers={"Allow": allow})
    sentence = "Use one of the methods that the Allow header lists."
    return problem_response(Problem(METHOD_NOT_ALLOWED, sentence, headers={"Allow": allow}), request.scope)
