"""API processes, as an operator runs them."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from ipucloud.config import Settings
from tests.api.support import SECRETS_KEY, UNLIMITED
from tests.support.control_plane import API, kill, process, stop
from tests.support.plain import NOBODY
from tests.support.ports import free_ports
from tests.support.waiting import PATIENCE

CROWD = httpx.Limits(max_connections=256, max_keepalive_connections=256)


def api_settings(url: str, **changes: Any) -> Settings:
    """Those of an API that takes any number of requests from a test."""
    (port,) = free_ports(1)
    values: dict[str, Any] = {
        "database_url": SecretStr(url),
        "environment": "test",
        "port": port,
        "internal_port": 0,
        "database_pool_timeout": 30.0,
        "log_level": "warning",
        "secrets_key": SecretStr(SECRETS_KEY),
        "trusted_proxies": "127.0.0.1",
        **UNLIMITED,
    }
    return Settings(**(values | changes))


@dataclass
class ApiProcess:
    """One API process, on a port it keeps; `client` reaches it."""

    settings: Settings
    log: Path
    client: httpx.AsyncClient
    _running: ExitStack = field(default_factory=ExitStack)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.settings.port}"

    async def start(self) -> None:
        """Return once it answers."""
        self._process = self._running.enter_context(process(API, self.settings, self.log))
        async with asyncio.timeout(PATIENCE):
            while not await self.ready("/livez"):
                assert self._process.poll() is None, self.log.read_text()
                await asyncio.sleep(0.02)

    async def stop(self) -> int:
        """Let it drain; its exit status."""
        assert self._process is not None
        return await asyncio.to_thread(stop, self._process)

    def kill(self) -> None:
        assert self._process is not None
        kill(self._process)

    def end(self) -> None:
        self._running.close()

    async def ready(self, path: str = "/readyz") -> bool:
        try:
            return (await self.client.get(path)).is_success
        except httpx.TransportError:
            return False


@asynccontextmanager
async def api_processes(url: str, folder: Path, number: int, **changes: Any) -> AsyncIterator[Sequence[ApiProcess]]:
    """So many API processes over one database."""
    async with AsyncExitStack() as stack:
        processes = []
        for index in range(number):
            settings = api_settings(url, **changes)
            client = httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{settings.port}",
                timeout=PATIENCE,
                limits=CROWD,
                trust_env=False,
                verify=NOBODY,
            )
            await stack.enter_async_context(client)
            each = ApiProcess(settings, folder / f"api-{index}.log", client)
            stack.callback(each.end)
            processes.append(each)
        await asyncio.gather(*(each.start() for each in processes))
        yield processes
