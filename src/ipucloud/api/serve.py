"""Entry point of an API process: the public and the internal listener, and a drain that drops no request."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
from collections.abc import Iterator

import structlog
import uvicorn
import uvloop
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ipucloud import parts
from ipucloud.api.app import Application, create_app
from ipucloud.api.health import Readiness
from ipucloud.api.services import Services
from ipucloud.catalogue.current import CurrentCatalogue
from ipucloud.config import Settings
from ipucloud.http.certificate import Certificate
from ipucloud.http.gate import Gate
from ipucloud.http.limits import public_limits
from ipucloud.http.listeners import listener
from ipucloud.http.server import internal_listener, server_config
from ipucloud.process import logs
from ipucloud.process.signals import ReloadSignal, StopSignals, in_loop, reload_signal, stop_signals

CERTIFICATE_SECONDS = 60.0
GC_THRESHOLDS = (50_000, 20, 50)

log = structlog.get_logger(__name__)


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then drain; read the catalogue again on SIGHUP.

    Raises ValueError without a database, ListenError, CatalogueError, CertificateError.
    """
    if settings.database_url is None:
        raise ValueError("the API needs IPUCLOUD_DATABASE_URL")
    logs.configure(settings.log_format, settings.log_level)
    with (
        stop_signals() as signals,
        reload_signal() as reload,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(_main(settings, signals, reload))


async def _main(settings: Settings, signals: StopSignals, reload: ReloadSignal) -> None:
    app = create_app(settings)
    catalogue: CurrentCatalogue = app.state.catalogue
    certificate = certificate_of(settings)
    server = ApiServer(app, settings, certificate)
    public = listener(settings.host, settings.port, settings.listen_fd)
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(signals.calling(stack.enter_context(in_loop(server.stop))))

        def read_again() -> None:
            catalogue.reload()
            if certificate is not None:
                certificate.refresh()

        stack.enter_context(reload.calling(stack.enter_context(in_loop(read_again))))
        if certificate is not None:
            stack.callback(asyncio.create_task(_follow(certificate), name="certificate").cancel)
        if settings.internal_port != 0:
            internal = listener(settings.internal_host, settings.internal_port, settings.internal_listen_fd)
            await stack.enter_async_context(internal_listener(internal_app(app), internal))
        await server.serve(sockets=[public])
    log.info("api_stopped")


def certificate_of(settings: Settings) -> Certificate | None:
    """The certificate for TLS, if one is set. Raises CertificateError."""
    if settings.tls_certificate is None:
        return None
    return Certificate(settings.tls_certificate, settings.tls_key or settings.tls_certificate)


async def _follow(certificate: Certificate) -> None:
    """Use a replaced certificate within a minute, without a signal: who renews it may not know this process."""
    while True:
        await asyncio.sleep(CERTIFICATE_SECONDS)
        certificate.refresh()


class ApiServer(uvicorn.Server):
    """uvicorn with a drain.

    `stop` makes `/readyz` return 503. If readiness is polled, a load balancer has a quarter of the drain time to send
    requests elsewhere; then the listener closes, and requests in progress have the rest.
    """

    def __init__(self, app: Application, settings: Settings, certificate: Certificate | None) -> None:
        self._gate = Gate("public", public_limits(settings))
        super().__init__(
            server_config(
                app,
                self._gate,
                lifespan="on",
                drain_seconds=settings.drain_seconds,
                certificate=certificate,
                sockets=True,
            )
        )
        self._app = app
        self._notice = settings.drain_seconds / 4
        self._draining: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        addresses = [bound.getsockname() for server in self.servers for bound in server.sockets]
        log.info("api_started", addresses=addresses, connections=self._gate.room, parts=parts.installed())

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Does nothing: the process has signal handlers of its own."""
        yield

    def stop(self) -> None:
        """Start draining. A server that is still starting stops after it has started."""
        if not self.started:
            self.should_exit = True
        elif self._draining is None:
            log.info("api_draining")
            self._draining = asyncio.create_task(self._drain(), name="drain")

    async def _drain(self) -> None:
        services: Services = self._app.state.services
        readiness: Readiness = self._app.state.readiness
        services.draining.set()
        if readiness.watched(services):
            await asyncio.sleep(self._notice)
        self.should_exit = True


def internal_app(app: Application) -> Starlette:
    """`/metrics`, `/livez` and `/readyz`; never reachable for customers."""

    async def livez(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def readyz(_: Request) -> Response:
        services: Services | None = getattr(app.state, "services", None)
        readiness: Readiness = app.state.readiness
        fault = "The process is starting." if services is None else await readiness.fault(services)
        catalogue: CurrentCatalogue = app.state.catalogue
        known = {"status": fault or "ready", "catalogue": catalogue.catalogue.digest, "parts": parts.installed()}
        return JSONResponse(known, 200 if fault is None else 503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(app.state.metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return Starlette(routes=[Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", metrics)])
