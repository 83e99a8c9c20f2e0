"""Every process is replaced, one by one, while customers work: no request fails and no operation is lost.

The client goes to another server with every call, and sends nothing to one that says it is not ready.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from ipucloud.config import Settings
from tests.proof.customers import FULL_CROWD, Crowd, Register, more_writes
from tests.proof.servers import ApiProcess, api_processes
from tests.support.control_plane import WORKER, process, stop
from tests.support.postgres import Database as Scratch
from tests.support.selection import Figures
from tests.support.site import RunningSite
from tests.support.waiting import PATIENCE
from tests.support.world import SiteWorld, open_site_world

pytestmark = pytest.mark.anyio

SITE = {"machines": 64}
BETWEEN = 6
LOOK_SECONDS = 0.1
DRAIN_SECONDS = 60.0
"""A quarter of it is the notice that a balancer has, also one on a machine with much else to do."""


@dataclass
class Balancer:
    """Knows which servers are ready, as any load balancer: it asks each of them all the time."""

    servers: Sequence[ApiProcess]
    ready: list[httpx.AsyncClient] = field(default_factory=list)

    async def watch(self) -> None:
        while True:
            answers = await asyncio.gather(*(server.ready() for server in self.servers))
            self.ready = [server.client for server, well in zip(self.servers, answers, strict=True) if well]
            await asyncio.sleep(LOOK_SECONDS)


@dataclass
class WorkerProcess:
    settings: Settings
    log: Path
    _running: ExitStack = field(default_factory=ExitStack)
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = self._running.enter_context(process(WORKER, self.settings, self.log))

    async def stop(self) -> int:
        assert self._process is not None
        return await asyncio.to_thread(stop, self._process)

    def end(self) -> None:
        self._running.close()


@asynccontextmanager
async def fleet(
    world: SiteWorld, url: str, folder: Path
) -> AsyncIterator[tuple[Sequence[ApiProcess], Sequence[WorkerProcess], Balancer]]:
    """Two API processes, two workers, and a balancer that watches."""
    async with AsyncExitStack() as stack:
        servers = await stack.enter_async_context(api_processes(url, folder, 2, drain_seconds=DRAIN_SECONDS))
        changes = {
            "database_url": servers[0].settings.database_url,
            "worker_internal_port": 0,
            "log_level": "info",
            "drain_seconds": 8.0,
        }
        workers = [
            WorkerProcess(world.settings.model_copy(update=changes), folder / f"worker-{number}.log")
            for number in range(2)
        ]
        for worker in workers:
            stack.callback(worker.end)
            worker.start()
        balancer = Balancer(servers)
        watching = asyncio.create_task(balancer.watch())
        stack.callback(watching.cancel)
        for server in servers:
            await _until_ready(balancer, server)
        yield servers, workers, balancer


async def test_everything_is_replaced_and_nobody_notices(
    database: Scratch, site: RunningSite, tmp_path: Path, full: bool, figures: Figures
) -> None:
    rounds, crowd = (5, FULL_CROWD) if full else (1, Crowd(3, 2))
    register = Register()
    async with open_site_world(database, site) as world:
        async with fleet(world, database.app_url, tmp_path) as (servers, workers, balancer):
            async with crowd.at_work(world.project, register, lambda: balancer.ready, strict=True):
                for _ in range(rounds):
                    for server in servers:
                        await more_writes(register, BETWEEN)
                        assert await server.stop() == 0
                        await server.start()
                        await _until_ready(balancer, server)
                    for worker in workers:
                        await more_writes(register, BETWEEN)
                        assert await worker.stop() == 0
                        worker.start()
                await more_writes(register, BETWEEN)
            assert register.faults == []
            assert [await worker.stop() for worker in workers] == [0, 0]
        assert await world.value("SELECT count(*) FROM tokens WHERE role = 'viewer'") == len(register.acknowledged)
        assert await world.value("SELECT count(*) FROM clusters WHERE state <> 'deleted'") == 0
        assert await world.value("SELECT count(*) FROM clusters") == register.clusters
        assert await world.value("SELECT count(*) FROM operations WHERE state <> 'succeeded'") == 0
        assert await world.value("SELECT count(*) FROM work WHERE parked_at IS NOT NULL") == 0
        await world.assert_nothing_left()
    figures(api_restarts=2 * rounds, worker_restarts=2 * rounds, in_flight=crowd.builders, **register.figures())


async def _until_ready(balancer: Balancer, server: ApiProcess) -> None:
    async with asyncio.timeout(PATIENCE):
        while server.client not in balancer.ready:
            await asyncio.sleep(LOOK_SECONDS)
