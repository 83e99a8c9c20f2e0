"""Checks of programs that listen on a server: a GET now and then, as a host's agent sends it."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from ipucloud.laboratory.simulator.sandbox.sandbox import SandboxProblem
from ipucloud.wire.site import JobCheck, JobHealth

LONGEST_HEAD = 16 * 1024
"""Bytes of an answer in which its first line has to end."""
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?: [^\r\n]*)?\r?\n")

Connect = Callable[[int], Awaitable[socket.socket]]
"""Connects to a port of the server's loopback address. Raises SandboxProblem."""


class Checks:
    """Checks of one program. `health` is what the last one found."""

    def __init__(self, check: JobCheck, connect: Connect) -> None:
        self._check = check
        self._connect = connect
        self.health: JobHealth | None = None

    async def run(self) -> None:
        """Check again and again, until cancelled."""
        while True:
            await asyncio.sleep(self._check.interval)
            wrong = await self._once()
            failed = 0 if wrong is None else 1 + (self.health.failed if self.health else 0)
            passed = wrong is None or (self.health is not None and self.health.passed)
            self.health = JobHealth(checked_at=datetime.now(UTC), failed=failed, passed=passed, detail=wrong)

    async def _once(self) -> str | None:
        """What is wrong; None if it passed."""
        check = self._check
        try:
            async with asyncio.timeout(check.timeout):
                status = await self._status()
        except TimeoutError:
            return f"GET {check.path}: no answer within {check.timeout:g} s"
        except SandboxProblem:
            return f"nothing listens on port {check.port}"
        except OSError as error:
            return f"GET {check.path}: {error.strerror or type(error).__name__}"
        if status is None:
            return f"GET {check.path}: the answer is not HTTP/1.1"
        return None if 200 <= status < 400 else f"GET {check.path}: status {status}"

    async def _status(self) -> int | None:
        connection = await self._connect(self._check.port)
        connection.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=connection, limit=LONGEST_HEAD)
        try:
            request = f"GET {self._check.path} HTTP/1.1\r\nHost: 127.0.0.1:{self._check.port}\r\nConnection: close\r\n"
            writer.write(f"{request}User-Agent: ipucloud-health-check\r\nAccept: */*\r\n\r\n".encode())
            await writer.drain()
            match = _STATUS.fullmatch(await reader.readline())
        except ValueError:
            return None  # no line ended within the limit
        finally:
            writer.close()
        return int(match[1]) if match else None
