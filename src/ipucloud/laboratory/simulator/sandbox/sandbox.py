"""A sandbox from outside: its start, programs in it, connections to what listens in it, its end.

What comes from inside is not to be trusted; descriptors that come from there are pipes, terminals and sockets that
process 1 has made, which runs nothing of the customer's.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ipucloud.laboratory.simulator.sandbox import cgroups
from ipucloud.laboratory.simulator.sandbox.plan import Plan
from ipucloud.laboratory.simulator.sandbox.used import Used, used_by

_MESSAGE = 1 << 16
START_SECONDS = 60.0
ANSWER_SECONDS = 60.0
MAX_REQUEST = 200_000
"""Bytes of a request: what one message of a socket holds with the kernel's usual settings."""


class SandboxProblem(Exception):
    """A sandbox, or something in it, did not start or answer; the text says why."""


@dataclass
class Running:
    """A program in a sandbox. `terminal` is the master of its terminal, if it has one."""

    _job: socket.socket
    terminal: int | None = None

    async def ended(self) -> int:
        """Its exit status once it has ended, negative for a signal; None when the sandbox ended before it."""
        said, _ = await _received(self._job)
        return int(said["exit"]) if "exit" in said else -9

    def signal(self, number: int) -> None:
        """Send a signal to its process group."""
        with suppress(OSError):
            self._job.send(json.dumps({"signal": number}).encode())

    def close(self) -> None:
        """Forget it; one that still runs is hung up, and of a login all that belongs to it ends."""
        self._job.close()


class Sandbox:
    """A running sandbox, as `start` answers it.

    `tools` listens where programs in the sandbox reach their owner; `token` is what those of no other sandbox know.
    """

    def __init__(
        self,
        plan: Plan,
        process: asyncio.subprocess.Process,
        control: socket.socket,
        tools: tuple[socket.socket, str],
        group: str,
    ) -> None:
        self._plan = plan
        self._process = process
        self._control = control
        self.tools, self.token = tools
        self._group = group

    @classmethod
    async def start(cls, disk: Path, plan: Plan) -> Self:
        """Start a sandbox on a folder that has the folders of `plan`. Raises SandboxProblem."""
        control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        group = cgroups.new_name()
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-m", "ipucloud.laboratory.simulator.sandbox"),
                *(plan.encode(), str(inner.fileno()), group),
                pass_fds=[inner.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                cwd=disk,
                env={},
                start_new_session=True,
            )
        except OSError as error:
            control.close()
            raise SandboxProblem(f"no process could be started: {error}") from error
        finally:
            inner.close()
        said: dict[str, Any] = {}
        descriptors: list[int] = []
        try:
            async with asyncio.timeout(START_SECONDS):
                said, descriptors = await _received(control)
        except TimeoutError:
            pass
        except asyncio.CancelledError:  # without its owner it ends
            control.close()
            raise
        if not descriptors:
            control.close()
            raise SandboxProblem(await _last_words(process) or "it did not start")
        return cls(plan, process, control, (socket.socket(fileno=descriptors[0]), said["token"]), group)

    @property
    def lives(self) -> bool:
        """Whether its process 1 runs, as far as is known."""
        return self._process.returncode is None

    def used(self) -> Used:
        """What its processes take of this machine."""
        return used_by(self._process.pid)

    @property
    def login_shell(self) -> Sequence[str]:
        """The program of a login without a command."""
        return self._plan.login_shell

    def place(self, path: str) -> str:
        """Where a path of the server lies for its programs."""
        return self._plan.place(path)

    async def run(
        self,
        argv: Sequence[str],
        streams: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
        *,
        directory: str | None = None,
        login: bool = False,
    ) -> Running:
        """Run a program with these descriptors as its standard input, output and error. Raises SandboxProblem.

        It starts in the `directory`, or in the home. `login`: when it is closed, what it has started ends, too.
        """
        request = {"run": list(argv), "environment": dict(environment or {}), "directory": directory, "login": login}
        return await self._ask(request, streams)

    async def run_at_terminal(
        self, argv: Sequence[str], size: tuple[int, int], environment: Mapping[str, str]
    ) -> Running:
        """Run a login's program at a new terminal of `size` rows and columns. Raises SandboxProblem."""
        request = {"run": list(argv), "environment": dict(environment), "terminal": size, "login": True}
        return await self._ask(request)

    async def serve_sftp(self, streams: Sequence[int]) -> Running:
        """Serve the sandbox's files. Raises SandboxProblem."""
        return await self._ask({"serve": "sftp"}, streams)

    async def connect(self, port: int) -> socket.socket:
        """A connection to what listens on the loopback address. Raises SandboxProblem."""
        running = await self._ask({"connect": port})
        running.close()
        if running.terminal is None:
            raise SandboxProblem("no connection")
        return socket.socket(fileno=running.terminal)

    async def stop(self) -> None:
        """End every process of the sandbox."""
        self.tools.close()
        self._control.close()
        await self._process.wait()
        cgroups.remove(self._group)

    async def _ask(self, request: Mapping[str, Any], streams: Sequence[int] = ()) -> Running:
        message = json.dumps(request).encode()
        if len(message) > MAX_REQUEST:
            raise SandboxProblem("Argument list too long")
        job, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            socket.send_fds(self._control, [message], [inner.fileno(), *streams])
            inner.close()
            async with asyncio.timeout(ANSWER_SECONDS):
                said, descriptors = await _received(job)
        except (OSError, TimeoutError) as error:
            job.close()
            raise SandboxProblem("the server does not answer") from error
        finally:
            inner.close()
        if said is None or "error" in said:
            job.close()
            raise SandboxProblem(str((said or {}).get("error", "the server went down")))
        return Running(job, descriptors[0] if descriptors else None)


async def _received(source: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next message and the descriptors that came with it; `{"error": …}` when the other side is gone."""
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    number = source.fileno()
    loop.add_reader(number, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(number)
    try:
        said, descriptors, _, _ = socket.recv_fds(source, _MESSAGE, 4)
    except OSError:
        said, descriptors = b"", []
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    return (json.loads(said) if said else {"error": "the server went down"}), descriptors


async def _last_words(process: asyncio.subprocess.Process) -> str:
    with suppress(ProcessLookupError):
        process.kill()
    _, said = await process.communicate()
    return said.decode(errors="replace").strip().rpartition("\n")[2]
