"""The files of a sandbox by SFTP 3 (draft-ietf-secsh-filexfer-02), with the extensions that OpenSSH's clients use.

It runs in the sandbox as the customer's user: the kernel decides what it may open, as for any other program there.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ipucloud.laboratory.simulator.sandbox.plan import Plan

_INIT, _VERSION = 1, 2
_OPEN, _CLOSE, _READ, _WRITE, _LSTAT, _FSTAT, _SETSTAT, _FSETSTAT, _OPENDIR, _READDIR = range(3, 13)
_REMOVE, _MKDIR, _RMDIR, _REALPATH, _STAT, _RENAME, _READLINK, _SYMLINK = range(13, 21)
_STATUS, _HANDLE, _DATA, _NAME, _ATTRS = range(101, 106)
_EXTENDED, _EXTENDED_REPLY = 200, 201

_OK, _EOF, _NO_SUCH_FILE, _PERMISSION_DENIED, _FAILURE, _BAD_MESSAGE, _, _, _UNSUPPORTED = range(9)
_CODES = {errno.ENOENT: _NO_SUCH_FILE, errno.ENOTDIR: _NO_SUCH_FILE, errno.EACCES: _PERMISSION_DENIED}
_CODES |= {errno.EPERM: _PERMISSION_DENIED, errno.EROFS: _PERMISSION_DENIED}

_FXF_READ, _FXF_WRITE, _FXF_APPEND, _FXF_CREAT, _FXF_TRUNC, _FXF_EXCL = 1, 2, 4, 8, 16, 32
_HAS_SIZE, _HAS_IDS, _HAS_PERMISSIONS, _HAS_TIMES, _HAS_EXTENDED = 1, 2, 4, 8, 1 << 31
_EXTENSIONS = {
    b"posix-rename@openssh.com": b"1",
    b"statvfs@openssh.com": b"2",
    b"fstatvfs@openssh.com": b"2",
    b"hardlink@openssh.com": b"1",
    b"fsync@openssh.com": b"1",
}

MAX_PACKET = 256 * 1024
MAX_HANDLES = 256
_ENTRIES = 100
_SIX_MONTHS = 183 * 86400


class _BadMessage(Exception):
    """A packet that is not what its type says."""


class _Unsupported(Exception):
    """A request of another version, or an extension that is not here."""


class _Packet:
    """Reads the fields of a packet in their order."""

    def __init__(self, data: bytes, plan: Plan) -> None:
        self._data = data
        self._plan = plan
        self._at = 0

    def number(self) -> int:
        return int.from_bytes(self._take(4))

    def long(self) -> int:
        return int.from_bytes(self._take(8))

    def text(self) -> bytes:
        return self._take(self.number())

    def path(self) -> bytes:
        return os.fsencode(self._plan.place(os.fsdecode(self.text())))

    def attributes(self) -> _Attributes:
        flags = self.number()
        size = self.long() if flags & _HAS_SIZE else None
        if flags & _HAS_IDS:
            self._take(8)  # there is one user
        permissions = self.number() if flags & _HAS_PERMISSIONS else None
        times = (self.number(), self.number()) if flags & _HAS_TIMES else None
        if flags & _HAS_EXTENDED:
            for _ in range(self.number()):
                self.text(), self.text()
        return _Attributes(size, permissions, times)

    def _take(self, count: int) -> bytes:
        chunk = self._data[self._at : self._at + count]
        if len(chunk) < count:
            raise _BadMessage
        self._at += count
        return chunk


@dataclass(frozen=True)
class _Attributes:
    size: int | None
    permissions: int | None
    times: tuple[int, int] | None

    def set(self, place: bytes | int) -> None:
        """Of a path, or of an open file."""
        if self.size is not None:
            os.truncate(place, self.size)
        if self.permissions is not None:
            os.chmod(place, stat.S_IMODE(self.permissions))
        if self.times is not None:
            os.utime(place, self.times)


@dataclass
class _Listing:
    """A folder that is being read."""

    path: bytes
    entries: Iterator[bytes]


def serve(source: int, target: int, plan: Plan) -> int:
    """Answer requests from `source` on `target` until it ends; answers the exit status."""
    os.chdir(plan.home)
    server = _Server(plan)
    while (data := _packet(source)) is not None:
        _write(target, server.answer(data))
    return 0


class _Server:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._open: dict[bytes, int | _Listing] = {}
        self._opened = 0
        self._requests: dict[int, Callable[[_Packet], bytes | None]] = {
            _OPEN: self._open_file,
            _CLOSE: self._close,
            _READ: self._read,
            _WRITE: self._write,
            _LSTAT: lambda packet: _attributes(os.lstat(packet.path())),
            _STAT: lambda packet: _attributes(os.stat(packet.path())),
            _FSTAT: lambda packet: _attributes(os.fstat(self._file(packet))),
            _SETSTAT: lambda packet: _set(packet.path(), packet),
            _FSETSTAT: lambda packet: _set(self._file(packet), packet),
            _OPENDIR: self._open_folder,
            _READDIR: self._read_folder,
            _REMOVE: lambda packet: os.unlink(packet.path()),
            _MKDIR: _make_folder,
            _RMDIR: lambda packet: os.rmdir(packet.path()),
            _REALPATH: lambda packet: _names([(os.path.realpath(packet.path() or b"."), b"", None)]),
            _RENAME: _rename,
            _READLINK: lambda packet: _names([(os.readlink(packet.path()), b"", None)]),
            _SYMLINK: _make_link,
            _EXTENDED: self._extended,
        }

    def answer(self, data: bytes) -> bytes:
        """The answer to a packet."""
        kind, packet = data[0], _Packet(data[1:], self._plan)
        if kind == _INIT:
            extensions = b"".join(_text(name) + _text(version) for name, version in _EXTENSIONS.items())
            return bytes([_VERSION]) + _number(3) + extensions
        try:
            request = packet.number()
        except _BadMessage:
            request = 0
        try:
            reply = self._requests[kind](packet) if kind in self._requests else _status(_UNSUPPORTED, "unsupported")
        except OSError as error:
            reply = _status(_CODES.get(error.errno or 0, _FAILURE), error.strerror or "failure")
        except EOFError:
            reply = _status(_EOF, "end of file")
        except (_BadMessage, ValueError, OverflowError):
            reply = _status(_BAD_MESSAGE, "bad message")
        except _Unsupported:
            reply = _status(_UNSUPPORTED, "unsupported")
        reply = _status(_OK, "") if reply is None else reply
        return reply[:1] + _number(request) + reply[1:]

    def _keep(self, opened: int | _Listing) -> bytes:
        self._opened += 1
        handle = str(self._opened).encode()
        self._open[handle] = opened
        return bytes([_HANDLE]) + _text(handle)

    def _handle(self, packet: _Packet) -> int | _Listing:
        target = self._open.get(packet.text())
        if target is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return target

    def _file(self, packet: _Packet) -> int:
        target = self._handle(packet)
        if isinstance(target, _Listing):
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        return target

    def _check_room(self) -> None:
        if len(self._open) >= MAX_HANDLES:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    def _open_file(self, packet: _Packet) -> bytes:
        path, flags, attributes = packet.path(), packet.number(), packet.attributes()
        self._check_room()
        both = flags & _FXF_READ and flags & _FXF_WRITE
        os_flags = os.O_RDWR if both else os.O_WRONLY if flags & _FXF_WRITE else os.O_RDONLY
        for bit, flag in ((_FXF_CREAT, os.O_CREAT), (_FXF_TRUNC, os.O_TRUNC), (_FXF_EXCL, os.O_EXCL)):
            os_flags |= flag if flags & bit else 0
        os_flags |= os.O_APPEND if flags & _FXF_APPEND else 0
        mode = 0o666 if attributes.permissions is None else stat.S_IMODE(attributes.permissions)
        # A pipe would wait for its other end, and this server for it.
        descriptor = os.open(path, os_flags | os.O_CLOEXEC | os.O_NONBLOCK, mode)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
        return self._keep(descriptor)

    def _close(self, packet: _Packet) -> None:
        handle = packet.text()
        target = self._open.pop(handle, None)
        if target is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if isinstance(target, int):
            os.close(target)

    def _read(self, packet: _Packet) -> bytes:
        file, offset, count = self._file(packet), packet.long(), packet.number()
        data = os.pread(file, min(count, MAX_PACKET - 1024), offset)
        if not data:
            raise EOFError
        return bytes([_DATA]) + _text(data)

    def _write(self, packet: _Packet) -> None:
        file, offset, data = self._file(packet), packet.long(), packet.text()
        while data:
            written = os.pwrite(file, data, offset)
            data, offset = data[written:], offset + written

    def _open_folder(self, packet: _Packet) -> bytes:
        path = packet.path()
        self._check_room()
        return self._keep(_Listing(path, iter([b".", b"..", *sorted(os.listdir(path))])))

    def _read_folder(self, packet: _Packet) -> bytes:
        listing = self._handle(packet)
        if isinstance(listing, int):
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        entries = []
        for name in listing.entries:
            with suppress(OSError):  # it went since
                about = os.lstat(os.path.join(listing.path, name))
                entries.append((name, _long_name(name, about), about))
            if len(entries) == _ENTRIES:
                break
        if not entries:
            raise EOFError
        return _names(entries)

    def _extended(self, packet: _Packet) -> bytes | None:
        name = packet.text()
        if name == b"posix-rename@openssh.com":
            os.replace(packet.path(), packet.path())
        elif name == b"hardlink@openssh.com":
            os.link(packet.path(), packet.path(), follow_symlinks=False)
        elif name == b"fsync@openssh.com":
            os.fsync(self._file(packet))
        elif name == b"statvfs@openssh.com":
            return _file_system(os.statvfs(packet.path()))
        elif name == b"fstatvfs@openssh.com":
            return _file_system(os.fstatvfs(self._file(packet)))
        else:
            raise _Unsupported
        return None


def _set(place: bytes | int, packet: _Packet) -> None:
    packet.attributes().set(place)


def _make_folder(packet: _Packet) -> None:
    path, attributes = packet.path(), packet.attributes()
    os.mkdir(path, 0o777 if attributes.permissions is None else stat.S_IMODE(attributes.permissions))


def _rename(packet: _Packet) -> None:
    """In this version of the protocol a file that is there stays."""
    old, new = packet.path(), packet.path()
    if os.path.lexists(new):
        raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(old, new)


def _make_link(packet: _Packet) -> None:
    """OpenSSH sends the target first, unlike the draft; so do the others."""
    target, path = packet.path(), packet.path()
    os.symlink(target, path)


def _attributes(status: os.stat_result) -> bytes:
    return bytes([_ATTRS]) + _fields(status)


def _fields(status: os.stat_result | None) -> bytes:
    if status is None:
        return _number(0)
    flags = _HAS_SIZE | _HAS_IDS | _HAS_PERMISSIONS | _HAS_TIMES
    times = (int(status.st_atime) & 0xFFFFFFFF, int(status.st_mtime) & 0xFFFFFFFF)
    return struct.pack(">IQIIIII", flags, status.st_size, status.st_uid, status.st_gid, status.st_mode, *times)


def _names(names: Sequence[tuple[bytes, bytes, os.stat_result | None]]) -> bytes:
    entries = (_text(name) + _text(long or name) + _fields(about) for name, long, about in names)
    return bytes([_NAME]) + _number(len(names)) + b"".join(entries)


def _long_name(name: bytes, status: os.stat_result) -> bytes:
    recent = 0 <= time.time() - status.st_mtime < _SIX_MONTHS
    when = time.strftime("%b %e %H:%M" if recent else "%b %e  %Y", time.localtime(status.st_mtime))
    owner = f"{status.st_uid:<8} {status.st_gid:<8}"
    return f"{stat.filemode(status.st_mode)} {status.st_nlink:>4} {owner} {status.st_size:>8} {when} ".encode() + name


def _file_system(status: os.statvfs_result) -> bytes:
    inodes = (status.f_files, status.f_ffree, status.f_favail)
    blocks = (status.f_bsize, status.f_frsize, status.f_blocks, status.f_bfree, status.f_bavail)
    return bytes([_EXTENDED_REPLY]) + struct.pack(">11Q", *blocks, *inodes, 0, status.f_flag & 3, status.f_namemax)


def _status(code: int, text: str) -> bytes:
    return bytes([_STATUS]) + _number(code) + _text(text.encode()) + _text(b"")


def _number(value: int) -> bytes:
    return value.to_bytes(4)


def _text(value: bytes) -> bytes:
    return _number(len(value)) + value


def _packet(source: int) -> bytes | None:
    """The next packet; None at the end, or after one that is longer than any."""
    head = _exactly(source, 4)
    length = int.from_bytes(head or b"")
    return _exactly(source, length) if 0 < length <= MAX_PACKET + 1024 else None


def _exactly(source: int, count: int) -> bytes | None:
    parts = []
    while count:
        part = os.read(source, count)
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write(target: int, answer: bytes) -> None:
    data = memoryview(_number(len(answer)) + answer)
    while data:
        data = data[os.write(target, data) :]
