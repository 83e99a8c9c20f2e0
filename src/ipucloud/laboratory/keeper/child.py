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

from ipucloud.laboratory.keeper import leash
from ipucloud.laboratory.keeper.readiness import Readiness

GRACE_SECONDS = 10.0
READY_SECONDS = 120.0
LOG_BYTES = 10_000_000
LOG_TAIL_BYTES = 20_000
SHELL_SIGNALS = 128
"""A status above it is that of a program whose own program was ended by a signal, as a shell tells it."""

Stream = int | BinaryIO | None


@dataclass(frozen=True)
class Program:
    """A module to run as a process, with the open `descriptors`; sentences begin with its `name`."""

    name: str
    module: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    ready: Readiness
    descriptors: tuple[int, ...] = ()
    ready_seconds: float = READY_SECONDS
    """How long it may take until it can be used."""
    grace_seconds: float = GRACE_SECONDS
    """How long it may take to end when it is asked to."""


async def start(program: Program) -> asyncio.subprocess.Process:
    """Start the program with its log at its end. Raises OSError."""
    program.log.parent.mkdir(parents=True, exist_ok=True)
    if program.log.exists() and program.log.stat().st_size > LOG_BYTES:
        program.log.replace(program.log.with_suffix(".log.1"))
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


async def end(process: asyncio.subprocess.Process, grace: float = GRACE_SECONDS) -> None:
    """Ask the program to end and wait; end it when it takes too long, or at once when we are told to hurry."""
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
    """How the program ended, as the rest of a sentence that begins with its name."""
    number = -status if status < 0 else status - SHELL_SIGNALS
    if number > 0:
        return f"was ended by signal {number}"
    return f"ended with status {status} ({last_event(program.log)})" if status else "ended with status 0"


def last_event(log: Path) -> str:
    """The last line of a log; of a structured one what happened, with the last line of an exception."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - LOG_TAIL_BYTES))
        lines = file.read().decode(errors="replace").split("\n")
    line = next((line.strip() for line in reversed(lines) if line.strip()), "without a word")
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    if not isinstance(entry, dict) or "event" not in entry:
        return line
    *_, exception = ["", *str(entry.get("exception", "")).strip().splitlines()]
    return f"{entry['event']}: {exception}" if exception else str(entry["event"])
