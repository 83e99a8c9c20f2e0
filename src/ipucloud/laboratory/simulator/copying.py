"""Copies of folders in which a customer's programs may have left anything, and may be at work meanwhile.

Every step is by a descriptor of the folder that it is in, and follows no link: nothing outside is read or written. No
path becomes long, nothing recurs, and few files are open, however deep folders lie within each other.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

NEW = ".new"
"""What a folder's name ends with while it is filled; no volume and no snapshot is called so."""
_LINKS = ".links"
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ALL = 0o700
_PART = 1024 * 1024
_ENTRY_BYTES = 64
_TURNS = 2
"""Copies at a time: each takes one of the few threads that the site's state is written in, too."""


class Stopped(Exception):
    """The copy is not wanted any more."""


class TooLarge(Exception):
    """There is more to copy than can be in one folder: programs go on to move it to where it was not copied yet."""


@dataclass
class Folder:
    """An open folder, as it was. `closed`: to its owner, for whom it was opened until it is left."""

    descriptor: int
    status: os.stat_result
    closed: bool

    def leave(self) -> None:
        if self.closed:
            with suppress(OSError):
                os.fchmod(self.descriptor, stat.S_IMODE(self.status.st_mode))
        os.close(self.descriptor)


class Copier:
    """Copies folders in threads, a few at a time. `limit`: bytes of one copy."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._turns = asyncio.Semaphore(_TURNS)
        self._closed = False

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Stop every copy."""
        self._closed = True

    async def copy(
        self,
        source: Folder | None,
        target: Path,
        needed: Callable[[], bool],
        *,
        without: frozenset[str] = frozenset(),
    ) -> int:
        """Make `target` a copy of a folder, which is left; of none: an empty folder. Stops when it is not `needed`.

        Answers how many bytes it took. What is directly in the folder and called as one of `without` is left out.

        Links are copied as links, hard links among its files stay, and so do holes, times and permissions. Sockets,
        pipes and devices are left out, and so is what vanishes meanwhile. Raises Stopped, TooLarge, and OSError if
        `target` cannot be written; what was copied by then is to be wiped.
        """
        async with self._turns:
            return await asyncio.to_thread(self._copy, source, target, lambda: needed() and not self._closed, without)

    def _copy(self, source: Folder | None, target: Path, needed: Callable[[], bool], without: frozenset[str]) -> int:
        try:
            _wipe_links(target)
            target.mkdir(parents=True, mode=_ALL)
            return _Copy(source, target, self._limit, needed, without).run() if source is not None else 0
        finally:
            if source is not None:
                source.leave()


def _wipe_links(target: Path) -> None:
    """Remove what a copy that was killed has left beside `target`."""
    shutil.rmtree(target.with_name(target.name + _LINKS), ignore_errors=True)


def open_folder(root: Path, *within: str) -> Folder | None:
    """A folder of the site, or by these names within it; None where there is none, or a link."""
    try:
        top = os.open(root, _FOLDER)
    except OSError:
        return None
    above = Folder(top, os.fstat(top), closed=False)
    for name in within:
        below = _open(name, above.descriptor, _FOLDER)
        above.leave()
        if below is None:
            return None
        above = below
    return above


def _open(name: str, folder: int, flags: int) -> Folder | None:
    """Something in a folder, also if it is closed to its owner; None where it is not, or is a link."""
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except PermissionError:
        return _open_closed(name, folder, flags)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if stat.S_ISDIR(status.st_mode) and os.geteuid() != 0 and not status.st_mode & stat.S_IXUSR:
        os.close(descriptor)
        return _open_closed(name, folder, flags)
    return Folder(descriptor, status, closed=False)


def _open_closed(name: str, folder: int, flags: int) -> Folder | None:
    if not hasattr(os, "O_PATH"):
        return None
    with suppress(OSError):
        held = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            status = os.fstat(held)
            # The file itself, whatever has its name by now.
            itself = Path(f"/proc/self/fd/{held}")
            if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                itself.chmod(stat.S_IMODE(status.st_mode) | stat.S_IRUSR | stat.S_IXUSR)
                return Folder(os.open(itself, flags & ~os.O_NOFOLLOW), status, closed=True)
        finally:
            os.close(held)
    return None


@dataclass
class _Place:
    """A folder on the way to where the copy is. `folders`: what is to be copied of it yet.

    `lost`: it was moved away meanwhile.
    """

    name: str
    status: os.stat_result
    closed: bool
    folders: list[str]
    lost: bool = False

    @property
    def identity(self) -> tuple[int, int]:
        return self.status.st_dev, self.status.st_ino


class _Copy:
    """One copy. `_source` and `_target` are open where it is."""

    def __init__(
        self, source: Folder, target: Path, limit: int, needed: Callable[[], bool], without: frozenset[str]
    ) -> None:
        self._top = source
        self._source = os.dup(source.descriptor)
        self._path = target
        self._target = os.open(target, _FOLDER)
        self._limit = self._remaining = limit
        self._needed = needed
        self._without = without
        self._way: list[_Place] = []
        self._links: int | None = None
        self._linked: dict[tuple[int, int], str] = {}
        self._numbers = count()

    def run(self) -> int:
        try:
            self._way.append(_Place("", self._top.status, False, self._fill()))
            while self._way:
                if self._way[-1].folders:
                    self._down(self._way[-1].folders.pop())
                else:
                    self._up()
        finally:
            os.close(self._source)
            os.close(self._target)
            if self._links is not None:
                os.close(self._links)
                _wipe_links(self._path)
        return self._limit - self._remaining

    def _spend(self, size: int) -> None:
        self._remaining -= size
        if self._remaining < 0:
            raise TooLarge
        if not self._needed():
            raise Stopped

    def _down(self, name: str) -> None:
        """Go into a folder, and copy what it has beside folders."""
        folder = _open(name, self._source, _FOLDER)
        if folder is None:
            return
        try:
            os.mkdir(name, _ALL, dir_fd=self._target)
        except FileExistsError:
            folder.leave()
            return
        below = os.open(name, _FOLDER, dir_fd=self._target)
        os.close(self._source)
        os.close(self._target)
        self._source, self._target = folder.descriptor, below
        self._way.append(_Place(name, folder.status, folder.closed, []))
        self._way[-1].folders = self._fill()

    def _up(self) -> None:
        """Leave a folder whose copy is complete."""
        place = self._way.pop()
        source, target = self._source, self._target
        if self._way:
            self._target = os.open("..", _FOLDER, dir_fd=target)
            self._source = self._above(source)
        else:
            self._source, self._target = os.dup(source), os.dup(target)
        # The copy's own folder is moved when it is attached, which takes the owner's permissions.
        _finish(target, place.status, _ALL if not self._way else 0)
        os.close(target)
        if place.lost:
            os.close(source)
        else:
            Folder(source, place.status, place.closed).leave()

    def _above(self, below: int) -> int:
        """Where the way ends now."""
        if not self._way[-1].lost:
            with suppress(OSError):
                descriptor = os.open("..", _FOLDER, dir_fd=below)
                if _identity(descriptor) == self._way[-1].identity:
                    return descriptor
                os.close(descriptor)
            return self._from_top()
        return os.dup(self._top.descriptor)

    def _from_top(self) -> int:
        """The end of the way by its names, after something was moved; what is not found there any more is lost."""
        descriptor = os.dup(self._top.descriptor)
        for number, place in enumerate(self._way[1:], 1):
            below = _open(place.name, descriptor, _FOLDER)
            if below is not None and _identity(below.descriptor) == place.identity:
                os.close(descriptor)
                descriptor = below.descriptor
                continue
            if below is not None:
                below.leave()
            for each in self._way[number:]:
                each.lost = True
                each.folders.clear()
            break
        return descriptor

    def _fill(self) -> list[str]:
        """Copy the files and links of this folder; answers which folders are in it."""
        folders = []
        try:
            with os.scandir(self._source) as entries:
                # Only the topmost folder is filled before there is a way.
                names = [entry.name for entry in entries if self._way or entry.name not in self._without]
        except OSError:
            return []
        for name in names:
            self._spend(_ENTRY_BYTES)
            try:
                status = os.stat(name, dir_fd=self._source, follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                folders.append(name)
            elif stat.S_ISLNK(status.st_mode):
                self._link(name, status)
            elif stat.S_ISREG(status.st_mode):
                self._file(name)
        return folders

    def _link(self, name: str, status: os.stat_result) -> None:
        try:
            leads_to = os.readlink(name, dir_fd=self._source)
        except OSError:
            return
        with suppress(FileExistsError):
            os.symlink(leads_to, name, dir_fd=self._target)
            times = (status.st_atime_ns, status.st_mtime_ns)
            os.utime(name, ns=times, dir_fd=self._target, follow_symlinks=False)

    def _file(self, name: str) -> None:
        file = _open(name, self._source, _OPEN)
        if file is None:
            return
        try:
            if stat.S_ISREG(file.status.st_mode) and not self._linked_again(name, file):
                with suppress(FileExistsError):
                    self._copy_file(name, file)
        finally:
            file.leave()

    def _copy_file(self, name: str, file: Folder) -> None:
        target = os.open(name, _NEW_FILE, 0o600, dir_fd=self._target)
        try:
            self._content(file.descriptor, target, file.status.st_size)
            _finish(target, file.status)
        finally:
            os.close(target)
        if file.status.st_nlink > 1:
            self._keep_link(name, file)

    def _keep_link(self, name: str, file: Folder) -> None:
        """Keep the file where its next name finds it."""
        if self._links is None:
            folder = self._path.with_name(self._path.name + _LINKS)
            folder.mkdir(mode=_ALL)
            self._links = os.open(folder, _FOLDER)
        kept = str(next(self._numbers))
        with suppress(OSError):
            os.link(name, kept, src_dir_fd=self._target, dst_dir_fd=self._links, follow_symlinks=False)
            self._linked[_identity(file.descriptor)] = kept

    def _linked_again(self, name: str, file: Folder) -> bool:
        """Whether the file has been copied under another name and got this one, too."""
        kept = self._linked.get(_identity(file.descriptor)) if file.status.st_nlink > 1 else None
        if kept is None:
            return False
        try:
            os.link(kept, name, src_dir_fd=self._links, dst_dir_fd=self._target, follow_symlinks=False)
        except OSError as error:
            if error.errno == errno.EMLINK:
                # A file can have no more names: there is another copy of it then.
                return False
            if error.errno != errno.EEXIST:
                raise
        return True

    def _content(self, source: int, target: int, size: int) -> None:
        position = 0
        while position < size:
            position, end = _data(source, position, size)
            while position < end:
                part = os.pread(source, min(_PART, end - position), position)
                if not part:
                    size = end = position
                    break
                self._spend(len(part))
                position += _write(target, part, position)
        os.ftruncate(target, size)


def _finish(copied: int, status: os.stat_result, least: int = 0) -> None:
    os.fchmod(copied, stat.S_IMODE(status.st_mode) | least)
    os.utime(copied, ns=(status.st_atime_ns, status.st_mtime_ns))


def _write(target: int, part: bytes, position: int) -> int:
    written = 0
    while written < len(part):
        written += os.pwrite(target, memoryview(part)[written:], position + written)
    return written


def _data(source: int, position: int, size: int) -> tuple[int, int]:
    """From where to where a file has data next, at or after `position`."""
    try:
        begin = os.lseek(source, position, os.SEEK_DATA)
        end = os.lseek(source, begin, os.SEEK_HOLE)
    except OSError as error:
        return (size, size) if error.errno == errno.ENXIO else (position, size)
    return min(begin, size), min(end, size)


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino
