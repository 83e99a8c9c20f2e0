"""The disk of one Poplar server: a folder of this machine that the customer sees as `/`, with an end to its space."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

BLOCK = 4096
MAX_DEPTH = 64
"""Folders within each other. Deeper ones could not be removed by everything that has to."""


@dataclass
class Disk:
    """Maps the customer's paths to real ones. No path leads out: symbolic links, which a customer's own programs may
    have left (`beneath`), are not followed, and none is made.

    Every entry takes a block, and a file its length beside it. `used` is the sum, `size` its limit, both in bytes;
    whatever changes it goes through this class, or happens within `changing`.
    """

    root: Path
    user: str
    size: int
    used: int = 0

    @property
    def home(self) -> str:
        return f"/home/{self.user}"

    def prepare(self) -> None:
        """Make the folders that a fresh server has."""
        for folder in (self.home, "/tmp", f"{self.home}/.ipuof.conf.d"):  # noqa: S108 - a path on the simulated disk
            with suppress(OSError):  # a customer's own programs have put something else there
                self.real(folder).mkdir(parents=True, exist_ok=True)

    def count(self) -> None:
        """Count what is there."""
        entries = (Path(folder) / name for folder, *names in os.walk(self.root) for name in names[0] + names[1])
        self.used = sum(map(_cost, entries))

    def absolute(self, path: str, cwd: str | None = None) -> str:
        """The customer's path, normalised; a relative one starts at `cwd`, else at home."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        normal = posixpath.normpath(posixpath.join("/", cwd or self.home, path))
        # POSIX lets a path start with two slashes and keep them; here that is the root like any other.
        return "/" + normal.lstrip("/")

    def real(self, path: str, cwd: str | None = None) -> Path:
        """Where the customer's path lies on this machine."""
        normal = self.absolute(path, cwd)
        if normal.count("/") > MAX_DEPTH:
            raise _error(errno.ENAMETOOLONG)
        place = self.root
        for part in normal.strip("/").split("/"):
            place = place / part
            if place.is_symlink():
                raise _error(errno.ELOOP)
        return place

    @contextmanager
    def changing(self, *places: Path | int, room: int = 0) -> Iterator[None]:
        """Around one change of the entries at these paths or descriptors; `room` is what it needs at most.

        Raises OSError with ENOSPC when there is not so much, and with ESTALE for a file that was removed.
        """
        if room > 0 and self.used + room > self.size:
            raise _error(errno.ENOSPC)
        before = sum(map(_cost, places))
        try:
            yield
        finally:
            self.used += sum(map(_cost, places)) - before

    def room_for(self, path: Path) -> int:
        """What an entry at this path takes as such."""
        return 0 if path.exists() else BLOCK

    def open(self, path: Path, mode: str) -> FileIO:
        """Open a file to write (`w`, which empties it) or to append (`a`)."""
        with self.changing(path, room=self.room_for(path)):
            return FileIO(path, mode)

    def write(self, file: FileIO, data: bytes, offset: int | None = None) -> int:
        """Write to an open file, at an offset or where it stands."""
        length = os.fstat(file.fileno()).st_size
        begin = length if "a" in file.mode else file.tell() if offset is None else offset
        with self.changing(file.fileno(), room=begin + len(data) - length):
            if offset is not None:
                file.seek(offset)
            return file.write(data)

    def mkdir(self, path: Path) -> None:
        with self.changing(path, room=BLOCK):
            path.mkdir()

    def rmdir(self, path: Path) -> None:
        with self.changing(path):
            path.rmdir()

    def remove(self, path: Path) -> None:
        """Remove a file. Who has it open does not keep its space."""
        with self.changing(path):
            os.truncate(path, 0)
            path.unlink()

    def move(self, source: Path, target: Path) -> None:
        """Rename; a file that is at `target` is replaced."""
        if source.is_dir():
            deepest = max(len(Path(folder).parts) for folder, *_ in os.walk(source)) - len(source.parts)
            if len(target.relative_to(self.root).parts) + deepest >= MAX_DEPTH:
                raise _error(errno.ENAMETOOLONG)
        elif source.exists() and target.is_file() and source != target:
            self.remove(target)
        with self.changing(*{source, target}):
            source.replace(target)


def _cost(place: Path | int) -> int:
    try:
        found = os.fstat(place) if isinstance(place, int) else place.lstat()
    except FileNotFoundError:
        return 0
    if not found.st_nlink:
        raise _error(errno.ESTALE)
    return BLOCK + (found.st_size if stat.S_ISREG(found.st_mode) else 0)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
