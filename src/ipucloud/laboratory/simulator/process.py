"""The running site: listeners, the ready line, and the way down."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import json
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from ipucloud.laboratory.simulator.clock import WallClock
from ipucloud.laboratory.simulator.http.app import build_app
from ipucloud.laboratory.simulator.http.protocol import BreakableProtocol, QuietServer
from ipucloud.laboratory.simulator.ports import listen_on
from ipucloud.laboratory.simulator.settings import Settings
from ipucloud.laboratory.simulator.site import Site, prepare_folder
from ipucloud.laboratory.simulator.vipu.endpoints import Endpoints
from ipucloud.laboratory.simulator.vipu.listeners import Listeners
from ipucloud.process.signals import StopSignals, in_loop

GRACE_SECONDS = 1.0
BACKLOG = 1024
COLLECT_AFTER = 50_000
KEEP_ALIVE_SECONDS = 75


class FolderTaken(Exception):
    """Another simulated site runs on the same folder."""


class FolderUnusable(Exception):
    """The site cannot keep anything in its folder."""


async def run(settings: Settings, signals: StopSignals, ready: Callable[[str], None]) -> None:
    """Serve until the first stop signal; calls `ready` with one JSON line once everything listens.

    Each part opens once its state is restored, and closes before it: the controllers, whose state is whole from
    the start, then the hosts' servers, which ask the controllers, then HTTP, which reports on all.
    Raises FolderTaken, FolderUnusable, PortTaken and SizeMismatch.
    """
    try:
        prepare_folder(settings.data)
    except OSError as error:
        raise FolderUnusable(f"{settings.data} cannot be the site's folder: {error.strerror}") from error
    _allow_many_files()
    with _sole_owner(settings.data):
        site = Site(settings, WallClock())
        stopping = asyncio.Event()
        async with AsyncExitStack() as open_things:
            open_things.enter_context(signals.calling(open_things.enter_context(in_loop(stopping.set))))
            open_things.push_async_callback(site.settled)
            open_things.push_async_callback(site.channels.close)
            await _listen_rpc(site, open_things)
            open_things.push_async_callback(site.host_states.close)
            open_things.push_async_callback(site.addresses.close)
            open_things.push_async_callback(site.volumes.close)
            open_things.push_async_callback(site.snapshots.close)
            await asyncio.to_thread(site.volumes.start)
            await site.snapshots.start()
            await site.host_states.start()
            await _listen_http(site, open_things)
            await site.settled()
            _calm_collector()
            ready(_ready_line(site))
            await stopping.wait()


def _allow_many_files() -> None:
    """Take as many descriptors as this process may have: each login and each file that it opens needs one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _calm_collector() -> None:
    """Let the garbage collector pass over the hardware, which is there to stay, and check the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


@contextmanager
def _sole_owner(data: Path) -> Iterator[None]:
    with (data / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FolderTaken(f"another simulated site runs on {data}") from error
        yield


async def _listen_rpc(site: Site, open_things: AsyncExitStack) -> None:
    """The administration endpoint of every controller, and a user endpoint for each of its allocations."""
    for slug, controller in site.controllers.items():
        listeners = Listeners(controller, site.faults, site.authorities.get(slug), site.settings)
        purpose = f"vipu.{slug}.admin"
        port, server = await listen_on(site.state.ports.get(purpose), listeners.administration, site.settings.ports)
        _keep_port(site, purpose, port)
        open_things.push_async_callback(server.stop, GRACE_SECONDS)
        controller.endpoints = Endpoints(
            site.settings.advertised_address,
            site.state.endpoints.setdefault(slug, {}),
            listeners.tenant,
            site.settings.ports,
            changed=site.document.touch,
            kept=site.document.settled,
        )
        open_things.push_async_callback(controller.endpoints.stop, GRACE_SECONDS)
        controller.listen()
        await controller.endpoints.settled()


async def _listen_http(site: Site, open_things: AsyncExitStack) -> None:
    settings = site.settings
    stored = settings.http_port or site.state.ports.get("http")
    port, listener = await listen_on(stored, lambda p: _http_socket(settings.bind, p), settings.ports)
    _keep_port(site, "http", port)
    config = uvicorn.Config(
        build_app(site, settings.token),
        http=BreakableProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(GRACE_SECONDS),
    )
    server = QuietServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))

    async def stop() -> None:
        site.events.close()
        server.should_exit = True
        await serving

    open_things.push_async_callback(stop)


async def _http_socket(host: str, port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _keep_port(site: Site, purpose: str, port: int) -> None:
    site.state.ports[purpose] = port
    site.document.touch()


def _ready_line(site: Site) -> str:
    regions: dict[str, Any] = {
        region.region: region.vipu.model_dump(include={"admin_port"}) if region.vipu else {}
        for region in site.inventory().regions
    }
    url = f"http://{site.settings.advertised_address}:{site.state.ports['http']}"
    reported = {"ready": True, "url": url, "regions": regions}
    return json.dumps(reported)
