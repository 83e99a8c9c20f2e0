"""Child processes of exports: the messages, one JSON document per line, and the worker's side.

A child process keeps Arrow and the S3 client out of workers' memory, and a large file from blocking a worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias
from uuid import UUID

import structlog
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ipucloud.billing.exports.selection import Selection
from ipucloud.contract.s3_connections import S3Failure

log = structlog.get_logger(__name__)

CHUNK_BYTES = 1 << 20
"""Bytes of a stored chunk of a file."""
_PROGRESS_STEP = 10
"""Percent between two records of the progress."""
_PATIENCE = 2.0
"""Seconds for it to end once its input is closed."""
_LONGEST_LINE = 1 << 20
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "PYTHONPATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR")
"""Environment variables that the process inherits: no proxies, no credentials of the host."""

Note: TypeAlias = Callable[[int], Awaitable[None]]


async def _no_note(_: int) -> None:
    return None


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Target(_Model):
    """An S3 bucket and the credentials for it.

    `private_too`: private addresses and any port may be reached, not only `ports` of public ones.
    """

    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    secret: str = Field(repr=False)
    private_too: bool
    ports: frozenset[int]


class Build(_Model):
    """Build the file of `subject`, and store it in chunks under `fence`."""

    kind: Literal["build"] = "build"
    database_url: str = Field(repr=False)
    export_id: UUID
    fence: int
    subject: Selection


class Deliver(_Model):
    """Upload the file stored under `fence`, then its manifest, to the bucket."""

    kind: Literal["deliver"] = "deliver"
    database_url: str = Field(repr=False)
    export_id: UUID
    fence: int
    name: str
    size: int
    manifest: Mapping[str, JsonValue]
    target: Target


class Try(_Model):
    """Reach the bucket, and write and delete an object in it."""

    kind: Literal["try"] = "try"
    target: Target


Order: TypeAlias = Build | Deliver | Try


class Reply(_Model):
    """`progress` in percent, or the result: a `manifest`, `delivered`, or an `error` for customers.

    `failed`: what a `Try` failed at.

    `lacks_schema`: the database lacks a table or column that making the file needs.
    """

    progress: int | None = None
    manifest: Mapping[str, JsonValue] | None = None
    delivered: bool = False
    error: str | None = None
    failed: S3Failure | None = None
    lacks_schema: bool = False


async def carried_out(order: Order, seconds: float, note: Note = _no_note) -> Reply:
    """Run a child process; returns its last reply. It outlives neither this call nor this worker."""
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "ipucloud.billing.exports.child",
        order.kind,
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


async def _conversation(process: asyncio.subprocess.Process, order: Order, note: Note) -> Reply:
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
