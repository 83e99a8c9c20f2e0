"""Durable state: one JSON document per part of the site, written whole, atomically and once for many callers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path


class Document:
    """One JSON file that always holds a whole, consistent state.

    Callers change their state in memory, call `touch`, and `await settled()` before they answer: an answer never tells
    what a kill could still take back. All changes made while one write is under way share the next.
    """

    def __init__(self, path: Path, snapshot: Callable[[], bytes], *, fsync: bool) -> None:
        self._path = path
        self._snapshot = snapshot
        self._fsync = fsync
        self._changed = 0
        self._written = 0
        self._writing: asyncio.Task[None] | None = None

    def touch(self) -> None:
        """Note that the state in memory differs from the file."""
        self._changed += 1

    @property
    def behind(self) -> bool:
        """Whether the file lacks a change."""
        return self._written < self._changed

    async def settled(self) -> None:
        """Return when every change made so far is in the file. Raises OSError when it cannot be written."""
        wanted = self._changed
        while self._written < wanted:
            if self._writing is None or self._writing.done():
                self._writing = asyncio.create_task(self._write())
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        version, data = self._changed, self._snapshot()
        await asyncio.to_thread(replace_file, self._path, data, fsync=self._fsync)
        self._written = version


def replace_file(path: Path, data: bytes, *, fsync: bool = True) -> None:
    """Put `data` in the place of `path` so that a reader, or a crash, sees the old or the new content, never a part."""
    temporary = f"{path}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
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
