"""The worker's side of a child process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import structlog
from pydantic import ValidationError

from ipucloud.billing.exports.order import Build, Deliver, Reply, Try

log = structlog.get_logger(__name__)

_PROGRESS_STEP = 10
"""Percent between two records of the progress."""
_PATIENCE = 2.0
"""Seconds for it to end once its input is closed."""
_LONGEST_LINE = 1 << 20
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR")
"""Environment variables that the process inherits: no proxies, no credentials of the host."""

Note: TypeAlias = Callable[[int], Awaitable[None]]


async def carried_out(order: Build | Deliver | Try, seconds: float, note: Note) -> Reply:
    """Run a child process; returns its last reply. It outlives neither this call nor this worker."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ipucloud.billing.exports.child",
        order.task,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        limit=_LONGEST_LINE,
    )
    complaints = asyncio.create_task(_last_complaint(process))
    try:
        async with asyncio.timeout(seconds):
            return await _conversation(process, order, note)
    except (TimeoutError, OSError, ValueError) as error:
        log.warning("export_process_failed", error=type(error).__name__)
        return Reply()
    finally:
        await _end(process)
        complaint = await complaints
        if complaint:
            log.warning("export_process_complained", kind=order.kind, last=complaint)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Usually it has ended already; otherwise kill it."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_PATIENCE):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _conversation(process: asyncio.subprocess.Process, order: Build | Deliver | Try, note: Note) -> Reply:
    if process.stdin is None or process.stdout is None:
        raise ValueError("the process was started without pipes")
    process.stdin.write(order.model_dump_json().encode() + b"\n")
    await process.stdin.drain()
    reply, noted = Reply(), 0
    while line := await process.stdout.readline():
        try:
            reply = Reply.model_validate_json(line)
        except ValidationError:
            continue
        if reply.progress is not None and reply.progress >= noted + _PROGRESS_STEP:
            noted = reply.progress
            await note(noted)
    return reply


async def _last_complaint(process: asyncio.subprocess.Process) -> str:
    """The last line of its standard error: an exception's, which names no secret."""
    if process.stderr is None:
        return ""
    last = b""
    while line := await process.stderr.readline():
        last = line
    return last.decode(errors="replace").strip()[:200]
