"""What the site keeps on the disk of one server, and a copy of the disk, for other servers, does not have.

Nobody else works on the copy, but a customer may have left anything there: every path is opened as if the copy were the
root directory, so that a link leads to what the site has written through it, and not outside.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ipucloud.laboratory.simulator.sandbox.kernel import open_in_root
from ipucloud.laboratory.simulator.sandbox.plan import OF_THE_SITE
from ipucloud.laboratory.simulator.ssh import s3_files
from ipucloud.laboratory.simulator.ssh.cloud_init import LOG
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.disk_files import LONGEST_FILE
from ipucloud.laboratory.simulator.wiping import wipe
from ipucloud.vipu_cli.files import FOLDER, SUFFIX
from ipucloud.wire.site import AUTHORITY_FILE, PREEMPTION_FILE

NOT_COPIED = frozenset({"tmp", "volumes", *OF_THE_SITE})
"""Folders of a disk of which nothing is copied."""
_FILES = (AUTHORITY_FILE, PREEMPTION_FILE, LOG, "/etc/hostname", "/etc/hosts")
_CLOUD_INIT = ("/var/lib/cloud/instance", "/var/lib/cloud")
"""Each itself, and no link in its place: whoever has moved the one elsewhere has the other there."""
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EISDIR})
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


def clean_copy(copy: Path, user: str) -> None:
    """Remove from the copy of a disk what belongs to the server that it was copied from. Raises OSError."""
    disk = _Copy(copy, user)
    for path in s3_files.PATHS:
        with _if_there():
            disk.without_access_keys(path)
    for path in (*_FILES, *s3_files.PATHS):
        # A write that a kill ended has left its file beside.
        folder, name = os.path.split(path)
        with _if_there():
            disk.remove(f"{folder}/.{name}.new")
    for path in _FILES:
        with _if_there():
            disk.remove(path)
    with _if_there():
        disk.remove_configurations()
    for path in _CLOUD_INIT:
        with _if_there():
            disk.remove_folder(path)


@contextmanager
def _if_there() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _ABSENT:
            raise


class _Copy:
    """The files of a copy, by the customer's paths."""

    def __init__(self, root: Path, user: str) -> None:
        self._root = root
        self._disk = Disk(root, user, 0)

    def without_access_keys(self, path: str) -> None:
        """Remove the site's sections from a file of S3 connections; one that is too long to be theirs is emptied."""
        with self._open(path, os.O_RDWR | os.O_NONBLOCK) as file:
            if os.fstat(file).st_size > LONGEST_FILE:
                os.ftruncate(file, 0)
                return
            present = os.pread(file, LONGEST_FILE, 0)
            kept = s3_files.merged(present.decode(errors="surrogateescape"), ()).encode(errors="surrogateescape")
            if kept != present:
                os.ftruncate(file, 0)
                os.pwrite(file, kept, 0)
        if not kept:
            self.remove(path)

    def remove(self, path: str) -> None:
        folder, name = os.path.split(path)
        with self._open(folder, _FOLDER) as parent:
            os.unlink(name, dir_fd=parent)

    def remove_configurations(self) -> None:
        """Remove the IPUoF configuration files: they are of partitions of the server's cluster."""
        with self._open(FOLDER, _FOLDER) as folder:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries]
            for name in names:
                if name.endswith((SUFFIX, f"{SUFFIX}.new")):
                    with _if_there():
                        os.unlink(name, dir_fd=folder)

    def remove_folder(self, path: str) -> None:
        with self._open(path, _FOLDER | os.O_NOFOLLOW) as folder:
            place = Path(f"/proc/self/fd/{folder}").readlink()
        wipe(place)

    @contextmanager
    def _open(self, path: str, flags: int) -> Iterator[int]:
        path = self._disk.absolute(path)
        root = os.open(self._root, os.O_PATH | os.O_DIRECTORY)
        try:
            if os.geteuid() != 0:
                _make_accessible(root, path)
            descriptor = open_in_root(root, path, flags)
        finally:
            os.close(root)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def _make_accessible(root: int, path: str) -> None:
    """Open what is closed to its owner on the way to a path."""
    parts = path.strip("/").split("/")
    for number in range(1, len(parts) + 1):
        descriptor = open_in_root(root, "/".join(parts[:number]), os.O_PATH)
        try:
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            needed = stat.S_IRWXU if stat.S_ISDIR(os.fstat(descriptor).st_mode) else stat.S_IRUSR | stat.S_IWUSR
            if mode & needed != needed:
                Path(f"/proc/self/fd/{descriptor}").chmod(mode | needed)
        finally:
            os.close(descriptor)
