"""Worker processes of a run, at work on a simulated site where nothing takes time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

import httpx

from bench.child import Child
from bench.databases import opened
from bench.servers import HOST, free_port
from ipucloud.config import Settings
from ipucloud.config.constants import Constants, written
from ipucloud.db.engine import Database
from tests.support.factories import PLENTY, furnish
from tests.support.plain import NOBODY
from tests.support.site import RunningSite
from tests.support.world import World

READY_SECONDS = 180.0
WORKER = ("-c", "from ipucloud.config import Settings; from ipucloud.worker.main import run; run(Settings())")


CALLERS = 8
"""How many requests are sent at once, each on a connection of its own."""


async def register(database: Database, site: RunningSite, *, quota: int = PLENTY) -> World:
    """Prices, the site's hardware in the inventory, and a customer."""
    clients = site.clients(call_timeout=Settings().site_call_timeout)
    try:
        (project,) = await furnish(database, clients, quota=quota)
    finally:
        await clients.close()
    return World(database, project)


async def request_clusters(url: str, site: RunningSite, clusters: int) -> None:
    """Register the site, and request so many clusters of one machine."""
    async with opened(url, pool_size=CALLERS) as database:
        world = await register(database, site, quota=clusters)
        numbers = iter(range(clusters))

        async def call() -> None:
            for number in numbers:
                await world.create(f"cluster-{number}")

        await asyncio.gather(*(call() for _ in range(CALLERS)))


def start_worker(
    folder: Path,
    database_url: str,
    site: RunningSite,
    settings: Mapping[str, object] = MappingProxyType({}),
    program: tuple[str, ...] = WORKER,
) -> Child:
    """A worker that is present; `settings` by field name."""
    port = free_port()
    values = {
        "database_url": database_url,
        "site_url": site.url,
        "site_token": site.token,
        "vipu_client_certificate": site.client_files,
        "worker_internal_port": port,
        "log_level": "warning",
        "validation": "",  # machines are there to be used, and no cluster waits for a test of them
    }
    values |= settings
    environment = {
        f"IPUCLOUD_{name.upper()}": str(value) for name, value in values.items() if name not in Constants.model_fields
    } | written(values)
    worker = Child.python(*program, log=folder / f"worker-{port}.log", environment=environment)
    try:
        _await_ready(worker, port)
    except BaseException:
        worker.stop()
        raise
    return worker


def _await_ready(worker: Child, port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while worker.running and time.monotonic() < deadline:
        with suppress(httpx.HTTPError):
            if httpx.get(f"http://{HOST}:{port}/readyz", timeout=1.0, verify=NOBODY).is_success:
                return
        time.sleep(0.05)
    raise worker.failure("is not ready")
