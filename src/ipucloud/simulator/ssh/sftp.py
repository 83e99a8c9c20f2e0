"""SFTP and scp into a server's disk."""

from __future__ import annotations

import os
from typing import Any

import asyncssh

from ipucloud.simulator.ssh.disk import Disk

PERMISSION_BITS = 0o777


class DiskSftp(asyncssh.SFTPServer):
    """Serves one disk. Links, owners and set-id bits are not taken: they would mean something outside the disk."""

    def __init__(self, channel: asyncssh.SSHServerChannel[bytes], disk: Disk) -> None:
        super().__init__(channel, chroot=os.fsencode(disk.root))
        self._disk = disk

    def exit(self) -> None:
        # asyncssh ends a subsystem without an exit status, which OpenSSH's scp takes for a failure.
        self.channel.exit(0)

    def map_path(self, path: bytes) -> bytes:
        return os.fsencode(self._disk.real(os.fsdecode(path)))

    def format_user(self, uid: int | None) -> str:
        return self._disk.user

    def format_group(self, gid: int | None) -> str:
        return self._disk.user

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:
        raise asyncssh.SFTPPermissionDenied("this server's disk takes no symbolic links")

    def link(self, oldpath: bytes, newpath: bytes) -> None:
        raise asyncssh.SFTPPermissionDenied("this server's disk takes no links")

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().open(path, pflags, _plain(attrs))

    def open56(self, path: bytes, desired_access: int, flags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().open56(path, desired_access, flags, _plain(attrs))

    def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().mkdir(path, _plain(attrs))

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().setstat(path, _plain(attrs))

    def lsetstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().lsetstat(path, _plain(attrs))

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().fsetstat(file_obj, _plain(attrs))


def _plain(attrs: asyncssh.SFTPAttrs) -> asyncssh.SFTPAttrs:
    attrs.uid = attrs.gid = attrs.owner = attrs.group = None
    if attrs.permissions is not None:
        attrs.permissions &= PERMISSION_BITS
    return attrs
