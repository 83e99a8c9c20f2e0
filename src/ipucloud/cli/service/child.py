"""A program kept running: started again when it ends, stopped with its keeper."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ipucloud.cli.service import leash
from ipucloud.cli.service.errors import CommandError

GRACE_SECONDS = 10.0
READY_SECONDS = 120.0
LET_GO_SECONDS = 5.0
READY_POLL_SECONDS = 0.05
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
SETTLED_SECONDS = 60.0
"""A program that ran this long had started well: its next start is a first one again."""
LOG_BYTES = 10_000_000

Say = Callable[[str], None]
Stream = int | BinaryIO | None


class ChildError(CommandError):
    """A program did not become ready; the message says where its log is."""


@dataclass(frozen=True)
class Program:
    """A module to run as a process; `ready` tells when it can be used. It inherits the open `descriptors`."""

    name: str
    module: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    ready: Callable[[], Awaitable[bool]]
    descriptors: tuple[int, ...] = ()


@asynccontextmanager
async def kept(program: Program, say: Say) -> AsyncIterator[Kept]:
    """Run the program while the block lasts; the block is left when it has ended. Call `ready` inside."""
    _turn(program.log)
    keeper = Kept(program, await _start(program), say)
    try:
        yield keeper
    finally:
        await keeper.close()


class Kept:
    """A program that is started again whenever it ends, once it had been ready."""

    def __init__(self, program: Program, process: asyncio.subprocess.Process, say: Say) -> None:
        self._program = program
        self._process = process
        self._say = say
        self._keeping: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Wait until the program can be used.

        One that ends at once is tried again for a while: the one of a killed keeper may not have let go yet.
        Raises ChildError when it keeps ending, or stays silent for too long.
        """
        program, began = self._program, time.monotonic()
        while not await program.ready():
            waited = time.monotonic() - began
            status = self._process.returncode
            if status is not None and waited > LET_GO_SECONDS:
                raise ChildError(f"{program.name} does not start ({_ending(status)}): {_last_line(program.log)}")
            if waited > READY_SECONDS:
                raise ChildError(f"{program.name} was not ready within {READY_SECONDS:g} s. Its log: {program.log}")
            if status is not None:
                await asyncio.sleep(FIRST_PAUSE)
                self._process = await _start(program)
            await asyncio.sleep(READY_POLL_SECONDS)
        self._keeping = asyncio.create_task(self._keep(), name=f"keep {program.name}")

    async def close(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping
        await end(self._process)

    async def _keep(self) -> None:
        pause = FIRST_PAUSE
        while True:
            started = time.monotonic()
            status = await self._process.wait()
            if time.monotonic() - started > SETTLED_SECONDS:
                pause = FIRST_PAUSE
            self._say(
                f"{self._program.name} ended ({_ending(status)}) and starts again in {pause:g} s. "
                f"Its log: {self._program.log}"
            )
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            self._process = await _start(self._program)


async def _start(program: Program) -> asyncio.subprocess.Process:
    program.log.parent.mkdir(parents=True, exist_ok=True)
    with program.log.open("ab") as log:
        return await leashed(
            program.module,
            *program.arguments,
            environment=program.environment,
            out=log,
            err=log,
            descriptors=program.descriptors,
        )


async def leashed(
    module: str,
    *arguments: str,
    environment: Mapping[str, str],
    out: Stream,
    err: Stream,
    descriptors: tuple[int, ...] = (),
) -> asyncio.subprocess.Process:
    """Start a module as a process that ends with this one. Of IPUCLOUD_* variables it has those given alone."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        leash.__name__,
        module,
        *arguments,
        stdin=asyncio.subprocess.PIPE,  # the leash: it closes when this process is gone
        stdout=out,
        stderr=err,
        env={**inherited, **environment},
        pass_fds=descriptors,
        start_new_session=True,  # Ctrl-C is for the keeper, which ends its programs in order
    )


async def end(process: asyncio.subprocess.Process) -> None:
    """Ask the program to end and wait; end it when it takes too long, or at once when we are told to hurry."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), GRACE_SECONDS)
    except (TimeoutError, asyncio.CancelledError):
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _ending(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"status {status}"


def _turn(log: Path) -> None:
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))


def _last_line(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4000))
        lines = file.read().decode(errors="replace").split("\n")
    return f"{next((line for line in reversed(lines) if line.strip()), 'no word')} (all of it in {log})"
