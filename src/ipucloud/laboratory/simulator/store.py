"""Durable state: one JSON document per part of the site, written whole, atomically and once for many callers."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

SLOW_SECONDS = 0.0002
"""A write that takes longer than this is handed to a thread from then on, which costs about as much."""
GATHER_SECONDS = 0.002
"""How long a write waits for more changes, when the one before was waited for by several callers."""


class Document:
    """One JSON file that always holds a whole, consistent state.

    Callers change their state in memory, call `touch`, and `await settled()` before they answer: an answer never shows
    what a kill could still take back. All changes made while one write is under way share the next.
    """

    def __init__(self, path: Path, snapshot: Callable[[], bytes], *, fsync: bool) -> None:
        self._path = path
        self._snapshot = snapshot
        self._fsync = fsync
        self._changed = 0
        self._written = 0
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._crowd = 0
        self._slow = fsync

    def touch(self) -> None:
        """Note that the state in memory differs from the file."""
        self._changed += 1

    @property
    def behind(self) -> bool:
        """Whether the file lacks a change."""
        return self._written < self._changed

    async def settled(self) -> None:
        """Return when every change made so far is in the file. Raises OSError when it cannot be written."""
        if not self.behind:
            return
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((self._changed, written))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        await written

    async def _write(self) -> None:
        """Write for as long as somebody waits."""
        while self._waiting:
            if self._crowd > 1:
                await asyncio.sleep(GATHER_SECONDS)
            version, error = self._changed, None
            try:
                await self._replace(self._snapshot())
            except OSError as problem:
                error = problem
            else:
                self._written = version
            self._notify(version, error)
        self._writing = None

    async def _replace(self, data: bytes) -> None:
        if self._slow:
            await asyncio.to_thread(self._timed_replace, data)
        else:
            self._timed_replace(data)

    def _timed_replace(self, data: bytes) -> None:
        started = time.perf_counter()
        replace_file(self._path, data, fsync=self._fsync)
        self._slow = time.perf_counter() - started > SLOW_SECONDS

    def _notify(self, version: int, error: OSError | None) -> None:
        """Let go of those whose change was in this version of the file. Some of them may have been cancelled."""
        reached = [written for needed, written in self._waiting if needed <= version and not written.done()]
        self._crowd = len(reached)
        self._waiting = [(needed, written) for needed, written in self._waiting if needed > version]
        for written in reached:
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)


def replace_file(path: Path, data: bytes, *, fsync: bool = True, mode: int = 0o666) -> None:
    """Put `data` in the place of `path` so that a reader, or a crash, sees the old or the new content, never a part.

    `mode`: who may read and write it, less the process's umask.
    """
    temporary = f"{path}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    try:
        written = 0
        while written < len(data):
            written += os.write(descriptor, data[written:] if written else data)
        if fsync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(temporary, path)  # noqa: PTH105 - this runs for every change, and a Path costs as much as the rename
    if fsync:
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make a rename in `directory` survive a loss of power."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_document(path: Path) -> bytes | None:
    """The content of a document, or None where none was written yet."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
