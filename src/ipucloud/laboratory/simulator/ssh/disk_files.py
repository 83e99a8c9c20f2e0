"""The files of a server from outside of its sandbox, as the site and the server's own commands read and write them.

A customer's programs can leave anything on the disk: links that would lead elsewhere here, pipes that would make a
reader wait, files without an end. Every path is opened as if the disk were the root directory, and only regular files
are read.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from ipucloud.laboratory.simulator.sandbox.kernel import open_in_root
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.vipu_cli.files import Files

LONGEST_FILE = 1 << 20
"""Bytes of a file that is read here: none of those that the V-IPU commands know is as long."""


class ServerFiles(Files, Protocol):
    """The files of a server, by the customer's paths."""

    def absolute(self, path: str) -> str:
        """The path from the root on."""

    def make_folder(self, path: str) -> None:
        """With those above it. Raises OSError."""


@dataclass(frozen=True)
class DiskFiles:
    """Files by the customer's paths; relative ones begin at `cwd`, else at home. New ones belong to `owner`."""

    disk: Disk
    cwd: str | None = None
    owner: int | None = None

    def absolute(self, path: str) -> str:
        return self.disk.absolute(path, self.cwd)

    def read(self, path: str) -> bytes:
        with self._open(self.absolute(path), os.O_RDONLY | os.O_NONBLOCK) as file:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            if status.st_size > LONGEST_FILE:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
            return os.pread(file, LONGEST_FILE, 0)

    def write(self, path: str, content: bytes) -> None:
        """Put a file in the place of what is there; folders on the way to it are made."""
        folder, name = os.path.split(self.absolute(path))
        with self._folder(folder) as parent:
            temporary = f".{name}.new"
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=parent), "wb") as file:
                file.write(content)
                if self.owner is not None:
                    os.fchown(file.fileno(), self.owner, self.owner)
            os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)

    def names(self, folder: str) -> Sequence[str]:
        try:
            with (
                self._open(self.absolute(folder), os.O_RDONLY | os.O_DIRECTORY) as descriptor,
                os.scandir(descriptor) as entries,
            ):
                return sorted(entry.name for entry in entries if not entry.is_dir(follow_symlinks=False))
        except OSError:
            return []

    def remove(self, path: str) -> None:
        folder, name = os.path.split(self.absolute(path))
        with self._open(folder, os.O_PATH | os.O_DIRECTORY) as parent:
            os.unlink(name, dir_fd=parent)

    def make_folder(self, path: str) -> None:
        """With those above it."""
        with self._folder(self.absolute(path)):
            pass

    @contextmanager
    def _open(self, path: str, flags: int) -> Iterator[int]:
        root = os.open(self.disk.root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            descriptor = open_in_root(root, path, flags)
        finally:
            os.close(root)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        """A folder, made if it is not there."""
        self._make(path)
        with self._open(path, os.O_PATH | os.O_DIRECTORY) as descriptor:
            yield descriptor

    def _make(self, path: str) -> None:
        try:
            with self._open(path, os.O_PATH | os.O_DIRECTORY):
                return
        except FileNotFoundError:
            above, name = os.path.split(path)
        self._make(above)
        with self._open(above, os.O_PATH | os.O_DIRECTORY) as parent:
            os.mkdir(name, dir_fd=parent)
            if self.owner is not None:
                os.chown(name, self.owner, self.owner, dir_fd=parent, follow_symlinks=False)
