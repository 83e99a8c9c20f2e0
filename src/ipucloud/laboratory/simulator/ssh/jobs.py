"""Programs that the control plane runs on a server: each at most once, outside of any login.

What is known of a job is on this machine's disk, not on the server's, before its program begins; so a job that was cut
off, by the end of this process or of the server, is known as interrupted and never begins again.
"""

from __future__ import annotations

import asyncio
import base64
import os
import re
import signal
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ipucloud.laboratory.simulator.images import ImageProblem
from ipucloud.laboratory.simulator.refusal import exists, invalid, not_found
from ipucloud.laboratory.simulator.sandbox.sandbox import Running, Sandbox, SandboxProblem
from ipucloud.laboratory.simulator.ssh.checks import Checks
from ipucloud.laboratory.simulator.ssh.containers import Place
from ipucloud.laboratory.simulator.ssh.streams import Source
from ipucloud.laboratory.simulator.store import replace_file
from ipucloud.wire.images import JobImage
from ipucloud.wire.site import Job, JobRequest

Result = TypeVar("Result")

LOG_LIMIT = 4 * 1024 * 1024
"""Bytes that are kept of what a job writes."""
LOG_CHUNK = 64 * 1024
LOG_FULL = b"\n[the log is full; what follows is dropped]\n"
GRACE_SECONDS = 10.0
"""How long a program that is to stop has after SIGTERM."""
DRAIN_SECONDS = 2.0
"""How long the output of a program that has ended is waited for: a child may keep it open."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")


class Server(Protocol):
    """Where jobs run: a server that is up."""

    def place(self, image: JobImage | None) -> AbstractAsyncContextManager[Place]:
        """For one program: in the server's own system, or in an image. Raises ImageProblem, SandboxProblem."""

    async def environment(self) -> dict[str, str]:
        """What a login finds in its environment."""


class _Record(BaseModel):
    """What is known of a job. `request` None: it was stopped before it was asked for."""

    name: str
    request: JobRequest | None
    stopping: bool = False
    ended: Literal["exited", "stopped", "interrupted", "not_started"] | None = None
    exit_status: int | None = None
    detail: str | None = None


class Jobs:
    """The jobs of one server, in a folder of their own."""

    def __init__(self, folder: Path, server: Server) -> None:
        self._folder = folder
        self._server = server
        self._fetching: dict[str, asyncio.Task[Place]] = {}
        self._records: dict[str, _Record] = {}
        self._running: dict[str, Running] = {}
        self._checks: dict[str, Checks] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def load(self) -> None:
        """Read what is known; what ran when the server went down was interrupted."""
        for path in sorted(self._folder.glob("*.json")) if self._folder.is_dir() else ():
            with suppress(ValidationError):
                record = _Record.model_validate_json(path.read_bytes())
                self._records[record.name] = record
                if record.ended is None:
                    self._end(record, "stopped" if record.stopping else "interrupted")

    async def put(self, name: str, request: JobRequest) -> Job:
        """Start a job, unless it is known."""
        if not _NAME.fullmatch(name):
            raise invalid(f"{name!r} is not the name of a job")
        known = self._records.get(name)
        kept = _kept(request)
        if known is not None:
            if known.request not in (None, kept):
                raise exists(f"job {name!r} is another one")
            return self.get(name, 0)
        if any("\0" in text for text in (*request.command, *request.environment.values(), request.directory or "")):
            raise invalid("a program's arguments have no NUL characters")
        record = _Record(name=name, request=kept)
        self._keep(record)
        self._start_task(self._run(record, request))
        return self.get(name, 0)

    def get(self, name: str, log_from: int) -> Job:
        """The job with a part of its log."""
        record = self._records.get(name)
        if record is None:
            raise not_found(f"there is no job {name!r} on this server")
        log, size = self._log(name, log_from)
        return Job(
            name=name,
            ended=record.ended,
            exit_status=record.exit_status,
            detail=record.detail,
            log=base64.b64encode(log).decode(),
            log_size=size,
            health=self._checks[name].health if name in self._checks else None,
        )

    async def stop(self, name: str) -> Job:
        """End a job, or note that it is not to begin."""
        if not _NAME.fullmatch(name):
            raise invalid(f"{name!r} is not the name of a job")
        record = self._records.get(name)
        if record is None:
            record = _Record(name=name, request=None)
            self._end(record, "stopped")
        elif record.ended is None and not record.stopping:
            record.stopping = True
            self._keep(record)
            if name in self._running:
                self._start_task(self._terminate(self._running[name]))
            elif name in self._fetching:
                self._fetching[name].cancel()
        return self.get(name, 0)

    async def close(self) -> None:
        """The server goes down: what runs is interrupted. Its processes end with the sandbox."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for record in self._records.values():
            if record.ended is None:
                self._end(record, "stopped" if record.stopping else "interrupted")

    async def _run(self, record: _Record, request: JobRequest) -> None:
        async with AsyncExitStack() as held:
            try:
                place = await self._placed(record.name, request, held)
                if place is None:
                    self._end(record, "stopped")
                    return
                started = await self._started(record.name, request, place)
            except (SandboxProblem, ImageProblem, OSError) as error:
                self._end(record, "not_started", detail=str(error))
                return
            await self._until_ended(record, request, place.sandbox, started)

    async def _placed(self, name: str, request: JobRequest, held: AsyncExitStack) -> Place | None:
        """Where a job runs, until `held` is left; None: it was stopped while its image was fetched."""
        if request.image is None:
            return await held.enter_async_context(self._server.place(None))
        opened = self._start_task(held.enter_async_context(self._server.place(request.image)))
        self._fetching[name] = opened
        try:
            await asyncio.wait({opened})
        finally:
            self._fetching.pop(name)
        return None if opened.cancelled() else opened.result()

    async def _until_ended(
        self,
        record: _Record,
        request: JobRequest,
        sandbox: Sandbox,
        started: tuple[Running, Source, asyncio.Event],
    ) -> None:
        running, source, drained = started
        self._running[record.name] = running
        checking = self._checked(record.name, request, sandbox)
        try:
            if record.stopping:
                self._start_task(self._terminate(running))
            status = await running.ended()
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await drained.wait()
            code = status if status >= 0 else 128 - status
            self._end(record, "stopped" if record.stopping else "exited", exit_status=code)
        finally:
            if checking is not None:
                checking.cancel()
            source.close()
            running.close()
            self._running.pop(record.name, None)
            self._checks.pop(record.name, None)

    def _checked(self, name: str, request: JobRequest, sandbox: Sandbox) -> asyncio.Task[None] | None:
        """What checks a program that runs; None: it is not to be checked."""
        if request.check is None:
            return None
        checks = self._checks[name] = Checks(request.check, sandbox.connect)
        return self._start_task(checks.run())

    async def _started(self, name: str, request: JobRequest, place: Place) -> tuple[Running, Source, asyncio.Event]:
        environment = {**place.environment, **await self._server.environment()}
        environment |= {"IPUCLOUD_JOB": name} | request.environment
        directory = place.directory if request.directory is None else place.sandbox.place(request.directory)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        reading, writing = os.pipe2(os.O_CLOEXEC)
        try:
            streams = [nothing, writing, writing]
            running = await place.sandbox.run(request.command, streams, environment, directory=directory)
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(nothing)
            os.close(writing)
        drained = asyncio.Event()
        return running, Source(reading, self._writer(name), drained.set), drained

    async def _terminate(self, running: Running) -> None:
        running.signal(signal.SIGTERM)
        await asyncio.sleep(GRACE_SECONDS)
        running.signal(signal.SIGKILL)

    def _start_task(self, work: Coroutine[None, None, Result]) -> asyncio.Task[Result]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _writer(self, name: str) -> Callable[[bytes], None]:
        size = 0

        def write(data: bytes) -> None:
            nonlocal size
            if size <= LOG_LIMIT:
                with suppress(OSError), self._path(name, "log").open("ab") as log:
                    log.write(data[: LOG_LIMIT - size])
                    if size + len(data) > LOG_LIMIT:
                        log.write(LOG_FULL)
            size += len(data)

        return write

    def _log(self, name: str, start: int) -> tuple[bytes, int]:
        try:
            with self._path(name, "log").open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(start)
                return log.read(LOG_CHUNK), size
        except FileNotFoundError:
            return b"", 0

    def _end(
        self,
        record: _Record,
        how: Literal["exited", "stopped", "interrupted", "not_started"],
        *,
        exit_status: int | None = None,
        detail: str | None = None,
    ) -> None:
        record.ended, record.exit_status, record.detail = how, exit_status, detail
        self._keep(record)

    def _keep(self, record: _Record) -> None:
        self._records[record.name] = record
        self._folder.mkdir(mode=0o700, exist_ok=True)
        replace_file(self._path(record.name, "json"), record.model_dump_json().encode(), mode=0o600)

    def _path(self, name: str, kind: str) -> Path:
        return self._folder / f"{name}.{kind}"


def _kept(request: JobRequest) -> JobRequest:
    """What is kept of a request: a registry's password is needed at the start only."""
    if request.image is None:
        return request
    return request.model_copy(update={"image": request.image.without_password})
