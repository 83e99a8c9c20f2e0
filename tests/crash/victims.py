"""Processes that a test ends, stops and continues: forked from a warm process, armed with traps."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from ipucloud.config import Settings
from ipucloud.kernel.failpoints import Trap
from tests.support.waiting import PATIENCE

LINE_LIMIT = 1 << 20
CHECKOUT = Path(__file__).parents[2]


@dataclass
class Victim:
    """One forked process. `points`: what it reached, in order. `ended`: its exit status, negative for a signal."""

    log: Path
    pid: int = 0
    points: list[str] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Future[int] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def end(self) -> int:
        """Its exit status, once it has ended."""
        async with asyncio.timeout(PATIENCE):
            return await asyncio.shield(self.ended)

    def signal(self, number: signal.Signals) -> None:
        if not self.ended.done():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        await self.end()

    async def reached(self, *points: str) -> None:
        """Return once it has been at one of the points."""
        async with asyncio.timeout(PATIENCE):
            while not set(points) & set(self.points):
                await asyncio.sleep(0.002)

    async def stopped(self) -> None:
        """Return once it stands still."""
        async with asyncio.timeout(PATIENCE):
            while _state(self.pid) != "T":
                await asyncio.sleep(0.002)

    def go_on(self) -> None:
        self.signal(signal.SIGCONT)


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


class TemplateProcess:
    """The warm process, and what it reports of its children."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._victims: dict[str, Victim] = {}
        self._numbers = count(1)
        self._listening = asyncio.create_task(self._listen(), name="template")
        self._warm: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def warm(self) -> None:
        """Return once it has imported everything. It must have no thread but one: only then is a fork a whole copy."""
        async with asyncio.timeout(PATIENCE):
            assert await self._warm == 1

    async def fork(
        self, role: Literal["worker", "api"], settings: Settings, log: Path, traps: Sequence[Trap] = ()
    ) -> Victim:
        name = str(next(self._numbers))
        victim = self._victims[name] = Victim(log)
        order = {
            "id": name,
            "role": role,
            "settings": _plain(settings),
            "log": str(log),
            "traps": [asdict(trap) for trap in traps],
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        async with asyncio.timeout(PATIENCE):
            await victim.begun.wait()
        return victim

    async def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._listening

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            event = json.loads(line)
            if "threads" in event:
                self._warm.set_result(event["threads"])
                continue
            victim = self._victims[event["id"]]
            victim.points += event.get("points", ())
            if "pid" in event:
                victim.pid = event["pid"]
                victim.begun.set()
            if "status" in event:
                victim.ended.set_result(event["status"])
                del self._victims[event["id"]]


def _plain(settings: Settings) -> dict[str, Any]:
    """What makes equal settings in another process."""
    return {name: _text(value) for name, value in settings.model_dump(exclude={"data_dir", "pg_bindir"}).items()}


def _text(value: Any) -> Any:
    if isinstance(value, frozenset):
        return ",".join(sorted(value))
    return value.get_secret_value() if isinstance(value, SecretStr) else value


@asynccontextmanager
async def template_process() -> AsyncIterator[TemplateProcess]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.crash.template",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=CHECKOUT,
        env=clean,
        start_new_session=True,
        limit=LINE_LIMIT,
    )
    template = TemplateProcess(process)
    try:
        await template.warm()
        yield template
    finally:
        await template.close()
