"""SFTP and scp into a server's disk."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from io import FileIO
from pathlib import Path
from typing import cast

import asyncssh

from ipucloud.laboratory.simulator.ssh.disk import BLOCK, Disk

PERMISSION_BITS, FILE_BITS, FOLDER_BITS = 0o777, 0o600, 0o700
"""What may be set; and what is set of a file and of a folder at least, so that a wipe can remove them."""


class DiskSftp(asyncssh.SFTPServer):
    """Serves one disk. Links, owners and set-id bits are not taken: they would mean something outside the disk."""

    def __init__(self, channel: asyncssh.SSHServerChannel[bytes], disk: Disk) -> None:
        super().__init__(channel, chroot=os.fsencode(disk.root))
        self._disk = disk

    def exit(self) -> None:
        # asyncssh ends a subsystem without an exit status, which OpenSSH's scp takes for a failure.
        self.channel.exit(0)

    def map_path(self, path: bytes) -> bytes:
        return os.fsencode(self._real(path))

    def format_user(self, uid: int | None) -> str:
        return self._disk.user

    def format_group(self, gid: int | None) -> str:
        return self._disk.user

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:
        raise asyncssh.SFTPPermissionDenied("this server's disk takes no symbolic links")

    def link(self, oldpath: bytes, newpath: bytes) -> None:
        raise asyncssh.SFTPPermissionDenied("this server's disk takes no links")

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        real = self._real(path)
        room = self._disk.room_for(real) if pflags & asyncssh.FXF_CREAT else 0
        with self._disk.changing(real, room=room):
            return super().open(path, pflags, _plain(attrs, FILE_BITS))

    def write(self, file_obj: object, offset: int, data: bytes) -> int:
        return self._disk.write(_file(file_obj), data, offset)

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        self._disk.mkdir(self._real(path))

    def rmdir(self, path: bytes) -> None:
        self._disk.rmdir(self._real(path))

    def remove(self, path: bytes) -> None:
        self._disk.remove(self._real(path))

    def rename(self, oldpath: bytes, newpath: bytes) -> None:
        if self._real(newpath).exists():
            raise asyncssh.SFTPFileAlreadyExists("File already exists")
        self.posix_rename(oldpath, newpath)

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> None:
        self._disk.move(self._real(oldpath), self._real(newpath))

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        real = self._real(path)
        with self._resizing(real, attrs):
            super().setstat(path, _plain(attrs, FOLDER_BITS if real.is_dir() else FILE_BITS))

    def lsetstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        self.setstat(path, attrs)

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> None:
        with self._resizing(_file(file_obj).fileno(), attrs):
            super().fsetstat(file_obj, _plain(attrs, FILE_BITS))

    def statvfs(self, path: bytes) -> asyncssh.SFTPVFSAttrs:
        total, free = self._disk.size // BLOCK, max(0, self._disk.size - self._disk.used) // BLOCK
        return asyncssh.SFTPVFSAttrs(BLOCK, BLOCK, total, free, free, total, free, free, namemax=255)

    def fstatvfs(self, file_obj: object) -> asyncssh.SFTPVFSAttrs:
        return self.statvfs(b"/")

    def _real(self, path: bytes) -> Path:
        return self._disk.real(os.fsdecode(path))

    def _resizing(self, place: Path | int, attrs: asyncssh.SFTPAttrs) -> AbstractContextManager[None]:
        room = 0 if attrs.size is None else attrs.size - os.stat(place).st_size  # noqa: PTH116 - of a descriptor, too
        return self._disk.changing(place, room=room)


def _file(file_obj: object) -> FileIO:
    """What `open` has answered."""
    return cast("FileIO", file_obj)


def _plain(attrs: asyncssh.SFTPAttrs, least: int) -> asyncssh.SFTPAttrs:
    attrs.uid = attrs.gid = attrs.owner = attrs.group = None
    if attrs.permissions is not None:
        attrs.permissions = attrs.permissions & PERMISSION_BITS | least
    return attrs
