"""Programs behind Landlock: a process gives up the machine and then starts all of a server's programs, in one domain.

Process 1 stays outside: no program can signal it, and it is the parent of every program. The spawner can be ended by
the customer, who may end everything that is theirs; then another one takes its place, with a domain of its own.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from ipucloud.laboratory.simulator.sandbox import kernel, landlock, processes
from ipucloud.laboratory.simulator.sandbox.plan import DISK_FOLDERS, RUN_FOLDER, SETTINGS, Plan

ANSWER_SECONDS = 10.0
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/proc")
_OF_THE_MACHINE = frozenset({"/etc/passwd", "/etc/group", "/etc/profile"})
"""Who may log in to this machine, and what its logins do; the server has its own."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx")
_OF_A_USER = ("/dev/pts", "/dev/shm")  # noqa: S108 - where a user of their own finds nothing of others
"""Terminals and memory of everyone: in them, only users keep processes apart."""
_MESSAGE = 1 << 18

Become = Callable[[dict[str, Any], list[int]], NoReturn]
"""Becomes a program in its own process, with these descriptors as its streams."""


class Spawner:
    """The spawner of one sandbox, as its process 1 uses it."""

    def __init__(self, plan: Plan, become: Become) -> None:
        self._plan = plan
        self._become = become
        self._channel: socket.socket | None = None
        self._pid = 0

    def start(self, request: dict[str, Any], streams: Sequence[int]) -> int:
        """Start a program, a child of this process. Raises OSError."""
        message = json.dumps(request).encode()
        for _ in range(2):
            try:
                if self._channel is None:
                    self._channel = self._begun()
                socket.send_fds(self._channel, [message], streams)
                return _answer(self._channel)
            except (ConnectionError, TimeoutError):  # the customer has ended it, or stopped it
                self._end()
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def _end(self) -> None:
        """End it: one that was only stopped must not start later what is started by the next one."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._pid in processes.descendants(os.getpid()):
            processes.send(self._pid, signal.SIGKILL)

    def _begun(self) -> socket.socket:
        ours, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _serve(inner, self._plan, self._become)
            finally:
                os._exit(1)
        inner.close()
        ours.settimeout(ANSWER_SECONDS)
        _answer(ours)
        return ours


def _answer(channel: socket.socket) -> int:
    """The process that the spawner tells of. Raises OSError with what the kernel has refused it."""
    said = channel.recv(_MESSAGE)
    if not said:
        raise ConnectionResetError
    answer = json.loads(said)
    if "error" in answer:
        raise OSError(answer["error"], os.strerror(answer["error"]))
    return int(answer["pid"])


def _serve(channel: socket.socket, plan: Plan, become: Become) -> None:
    kernel.end_with_parent(signal.SIGKILL)
    signal.set_wakeup_fd(-1)
    number = channel.fileno()
    os.closerange(3, number)  # what process 1 has open is to end with it
    os.closerange(number + 1, 65536)
    try:
        if plan.wall == "landlock":
            restrict(plan)
    except OSError as error:
        channel.send(json.dumps({"error": error.errno}).encode())
        return
    write_settings(plan)
    channel.send(json.dumps({"pid": os.getpid()}).encode())
    while True:
        said, streams, _, _ = socket.recv_fds(channel, _MESSAGE, 4)
        if not said:
            return
        answer: dict[str, int]
        try:
            pid = kernel.fork_sibling()
            if pid == 0:
                become(json.loads(said), streams)
            answer = {"pid": pid}
        except OSError as error:
            answer = {"error": error.errno or 0}
        for stream in streams:
            os.close(stream)
        channel.send(json.dumps(answer).encode())


def restrict(plan: Plan) -> None:
    """Give up everything of this machine that the programs of a server do not need."""
    settings = [*(f"/etc/{name}" for name in SETTINGS), *_readable_by_all("/etc")]
    own = [plan.home, plan.place(RUN_FOLDER), *(plan.place(f"/{name}") for name in DISK_FOLDERS)]
    of_a_user = _OF_A_USER if plan.own_user else ()
    libraries = [plan.own_libraries, *plan.libraries.values()]
    landlock.restrict(
        read=[*_SYSTEM, *settings, *plan.programs, plan.own_programs, *libraries],
        change=[*own, *_DEVICES, *of_a_user],
    )


def _readable_by_all(folder: str) -> Iterator[str]:
    """Files that every user may read: programs take one that they may not as a fault, where they do without it."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if os.stat(f"{place}/{name}").st_mode & stat.S_IXOTH]
        for path in (f"{place}/{name}" for name in names):
            with suppress(OSError):
                if path not in _OF_THE_MACHINE and os.stat(path).st_mode & stat.S_IROTH:
                    yield path


def write_settings(plan: Plan) -> None:
    """Fill the /etc of the disk, from within the wall: no link that is there leads out of it.

    What the customer made of it stays, but the name of the server.
    """
    for name, text in plan.settings.items():
        path = plan.place(f"/etc/{name}")
        with suppress(OSError):
            if name == "hostname" and os.path.lexists(path):
                os.unlink(path)
            with open(path, "x") as file:
                file.write(text)
