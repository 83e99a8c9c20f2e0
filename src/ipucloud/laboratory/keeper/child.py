"""Programs of this package as processes that end with the process that started them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ipucloud.laboratory.keeper import starter_watch
from ipucloud.laboratory.keeper.readiness import Readiness

GRACE_SECONDS = 10.0
READY_SECONDS = 120.0
LOG_BYTES = 10_000_000
LOG_TAIL_BYTES = 20_000
SHELL_SIGNALS = 128
"""A status above it is 128 and the number of the signal that ended the program, as in a shell."""

Stream = int | BinaryIO | None


@dataclass(frozen=True)
class Program:
    """A module to run as a process, with the open `descriptors`; messages begin with its `name`."""

    name: str
    module: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    ready: Readiness
    descriptors: tuple[int, ...] = ()
    ready_seconds: float = READY_SECONDS
    """Maximum time until it is ready."""
    grace_seconds: float = GRACE_SECONDS
    """Maximum time to end after a request."""


async def start(program: Program) -> asyncio.subprocess.Process:
    """Start the program, appending to its log. Raises OSError."""
    program.log.parent.mkdir(parents=True, exist_ok=True)
    if program.log.exists() and program.log.stat().st_size > LOG_BYTES:
        program.log.replace(program.log.with_suffix(".log.1"))
    with program.log.open("ab") as log:
        return await start_bound(
            program.module,
            *program.arguments,
            environment=program.environment,
            out=log,
            err=log,
            descriptors=program.descriptors,
        )


async def start_bound(
    module: str,
    *arguments: str,
    environment: Mapping[str, str],
    out: Stream,
    err: Stream,
    descriptors: tuple[int, ...] = (),
) -> asyncio.subprocess.Process:
    """Start a module as a process that ends with this one. It gets only the given IPUCLOUD_* variables."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        starter_watch.__name__,
        module,
        *arguments,
        stdin=asyncio.subprocess.PIPE,  # it closes when this process is gone
        stdout=out,
        stderr=err,
        env={**inherited, **environment},
        pass_fds=descriptors,
        start_new_session=True,  # Ctrl-C is for the keeper, which ends its programs in order
    )


async def end(process: asyncio.subprocess.Process, grace: float = GRACE_SECONDS) -> None:
    """Ask the program to end and wait; kill it if it takes too long, or immediately when cancelled."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(grace):
            await process.wait()
    except (TimeoutError, asyncio.CancelledError):
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def ending(program: Program, status: int) -> str:
    """How the program ended, as the rest of a message that begins with its name."""
    number = -status if status < 0 else status - SHELL_SIGNALS
    if number > 0:
        return f"was ended by signal {number}"
    return f"ended with status {status} ({last_event(program.log)})" if status else "ended with status 0"


def last_event(log: Path) -> str:
    """The last line of a log; if structured, its event with the last line of an exception."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_TAIL_BYTES))
        lines = file.read().decode(errors="replace").split("\n")
    line = next((line.strip() for line in reversed(lines) if line.strip()), "no log output")
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    if not isinstance(entry, dict) or "event" not in entry:
        return line
    *_, exception = ["", *str(entry.get("exception", "")).strip().splitlines()]
    return f"{entry['event']}: {exception}" if exception else str(entry["event"])
