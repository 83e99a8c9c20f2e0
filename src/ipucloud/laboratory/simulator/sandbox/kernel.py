"""Calls of the Linux kernel that Python has no function for. Each raises OSError as `os` does."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
import struct
from collections.abc import Mapping

_LIBC = ctypes.CDLL(None, use_errno=True)
_HELD = ctypes.PyDLL(None, use_errno=True)
"""The same for calls in which this process is forked: Python's lock stays with the thread that calls."""
_ARM = os.uname().machine == "aarch64"

NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_SLAVE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 19
MNT_DETACH = 2
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_PIVOT_ROOT, _MOUNT_SETATTR, _OPENAT2 = 41 if _ARM else 155, 442, 437

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER = 1, 4, 22, 24, 36
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 38, 47
_CAPABILITY_VERSION_3 = 0x20080522
_RESOLVE_NO_MAGICLINKS, _RESOLVE_IN_ROOT = 0x02, 0x10

_AUDIT_ARCH = 0xC00000B7 if _ARM else 0xC000003E
_SOCKET = 198 if _ARM else 41
_SOCKET_FAMILIES = (1, 2, 10, 16)
"""Unix, IPv4, IPv6, netlink. Others, such as vsock, are in no namespace, or nothing that a customer needs."""
_FORBIDDEN = (425, 217, 218, 219, 280, 241, 282, 104, 265) if _ARM else (425, 248, 249, 250, 321, 298, 323, 246, 304)
"""io_uring_setup, add_key, request_key, keyctl, bpf, perf_event_open, userfaultfd, kexec_load, open_by_handle_at: parts
of the kernel that are in no namespace, or had many faults, and that a customer's programs do without."""
_SHARED = (194, 196, 190, 186, 180, 30) if _ARM else (29, 30, 64, 68, 240, 251)
"""shmget, shmat, semget, msgget, mq_open, ioprio_set: memory and queues that are the machine's where there is no
namespace of them, and a call that reaches other processes of the same user."""
_OF_ITSELF = (
    {140: (0, 1), 119: (1,), 122: (0,), 261: (0,), 274: (0,)}
    if _ARM
    else {141: (0, 1), 144: (1,), 203: (0,), 302: (0,), 314: (0,)}
)
"""setpriority, sched_setscheduler, sched_setaffinity, prlimit64, sched_setattr, and which of their arguments are 0 when
a process means itself; of sched_setscheduler, when it asks for what all processes have, as ZeroMQ does for each thread.
Landlock does not keep these calls from other processes of the same user."""
_CLONE, _CLONE_PARENT = 220 if _ARM else 56, 0x8000
_MAKE_NAMESPACES, _CLONE3, _SETNS = (_CLONE, 97 if _ARM else 272), 435, 268 if _ARM else 308
"""clone and unshare, whose first argument has NEW_NAMESPACES. The arguments of clone3 are not to be seen; C libraries
do without it."""


def unshare(flags: int) -> None:
    _call("unshare", flags)


def mount(source: str | None, target: str, kind: str | None = None, flags: int = 0, data: str | None = None) -> None:
    _call("mount", source, target, kind, flags, data)


def bind(source: str, target: str, attributes: int) -> None:
    """Show `source` at `target`, with all that is mounted below it; `attributes` (ATTR_*) hold for all of it."""
    mount(source, target, None, MS_BIND | MS_REC)
    _call(
        "syscall",
        *(_MOUNT_SETATTR, _AT_FDCWD, target, _AT_RECURSIVE, struct.pack("QQQQ", attributes, 0, 0, 0), 32),
    )


def detach(target: str) -> None:
    _call("umount2", target, MNT_DETACH)


def pivot_root(new: str, old: str) -> None:
    _call("syscall", _PIVOT_ROOT, new, old)


def set_hostname(name: str) -> None:
    raw = name.encode()
    _call("sethostname", raw, len(raw))


def end_with_parent(signal_number: int) -> None:
    _call("prctl", _PR_SET_PDEATHSIG, signal_number, 0, 0, 0)


def set_dumpable(on: bool) -> None:
    """Whether others of the same user may look into this process, and whether its /proc entries are its user's."""
    _call("prctl", _PR_SET_DUMPABLE, int(on), 0, 0, 0)


def reap_descendants() -> None:
    """Be the parent of those of this process's descendants whose parent has ended."""
    _call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def fork_sibling() -> int:
    """Fork a child of this process's parent; 0 in the child. For a process of one thread."""
    answer = int(_HELD.syscall(_CLONE, ctypes.c_long(_CLONE_PARENT | signal.SIGCHLD), *[ctypes.c_long(0)] * 4))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def forbid_privileges() -> None:
    """Let no program that this process starts gain privileges (`no_new_privs`)."""
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def become(uid: int, gid: int, *, shared: bool, own_user: bool = True) -> None:
    """Become this user, without any capability or a call of `_FORBIDDEN`, for good, as all that this process starts.

    `shared`: there are other processes of this machine around: calls that reach them are refused, and namespaces.
    Without an `own_user` some of these are of the same user, and what they hear by Unix sockets is out of reach.
    """
    for capability in range(64):
        _LIBC.prctl(_PR_CAPBSET_DROP, ctypes.c_long(capability), 0, 0, 0)  # EINVAL past the kernel's last one
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    _call("prctl", _PR_CAP_AMBIENT, 4, 0, 0, 0)
    _call("capset", struct.pack("Ii", _CAPABILITY_VERSION_3, 0), struct.pack("IIIIII", *[0] * 6))
    forbid_privileges()
    code = _filter(shared=shared, own_user=own_user)
    program = ctypes.create_string_buffer(code)
    _call("prctl", _PR_SET_SECCOMP, 2, struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(program)), 0, 0)


def limit(limits: Mapping[str, int]) -> None:
    """Set resource limits (`AS`, `NPROC`, …), soft and hard, to at most these."""
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def open_in_root(root: int, path: str, flags: int, mode: int = 0) -> int:
    """Open a path as a process would whose root directory is the descriptor `root`: no link and no `..` leads out.

    Where the kernel, or what confines this process, does not know how, no link is followed at all.
    """
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, mode, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
    try:
        return syscall(_OPENAT2, root, os.fsencode(path), how, len(how))
    except OSError as error:
        if error.errno not in {errno.ENOSYS, errno.EPERM}:
            raise
    return _open_without_links(root, path, flags, mode)


def _open_without_links(root: int, path: str, flags: int, mode: int) -> int:
    parts = [part for part in path.split("/") if part not in {"", "."}] or ["."]
    if ".." in parts:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
    place = os.dup(root)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = inner
        return os.open(parts[-1], flags | os.O_NOFOLLOW, mode, dir_fd=place)
    finally:
        os.close(place)


def syscall(number: int, *arguments: int | str | bytes | None) -> int:
    """A call by its number."""
    return _call("syscall", number, *arguments)


def _filter(*, shared: bool, own_user: bool) -> bytes:
    """A seccomp filter: a program of the kernel's packet filter over number, architecture and arguments of a call."""
    load, jump_equal, jump_at_least, answer = 0x20, 0x15, 0x35, 0x06
    jump_any = 0x45
    allow, eperm, not_supported, no_such_call = 0x7FFF0000, 0x50001, 0x50061, 0x50026
    number, architecture, arguments = 0, 4, 16

    def line(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    def matching(values: tuple[int, ...], verdict: int) -> bytes:
        return b"".join(line(jump_equal, value, 0, 1) + line(answer, verdict) for value in values)

    def of_itself(call: int, zeros: tuple[int, ...]) -> bytes:
        checks = [
            line(load, arguments + 8 * zero) + line(jump_equal, 0, 0, 2 * after + 1)
            for zero, after in zip(zeros, reversed(range(len(zeros))), strict=True)
        ]
        body = b"".join((*checks, line(answer, allow), line(answer, eperm)))
        return line(jump_equal, call, 0, len(body) // 8) + body

    def without_namespaces(call: int) -> bytes:
        body = line(load, arguments) + line(jump_any, NEW_NAMESPACES, 1, 0) + line(answer, allow) + line(answer, eperm)
        return line(jump_equal, call, 0, 4) + body

    among_others = b"".join(
        (
            matching((*_SHARED, _SETNS), eperm),
            matching((_CLONE3,), no_such_call),
            *map(without_namespaces, _MAKE_NAMESPACES),
            *(of_itself(call, zeros) for call, zeros in _OF_ITSELF.items()),
        )
    )
    return b"".join(
        (
            line(load, architecture),
            line(jump_equal, _AUDIT_ARCH, 1, 0),
            line(answer, eperm),
            line(load, number),
            line(jump_at_least, 0x40000000, 0, 1),  # the numbers of the x32 ABI
            line(answer, eperm),
            matching(_FORBIDDEN, eperm),
            among_others if shared else b"",
            line(jump_equal, _SOCKET, 1, 0),
            line(answer, allow),
            line(load, arguments),
            matching(_SOCKET_FAMILIES if own_user else _SOCKET_FAMILIES[1:], allow),
            line(answer, not_supported),
        )
    )


def _call(name: str, *arguments: int | str | bytes | None) -> int:
    passed = [
        ctypes.c_long(each) if isinstance(each, int) else each.encode() if isinstance(each, str) else each
        for each in arguments
    ]
    result = int(getattr(_LIBC, name)(*passed))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
