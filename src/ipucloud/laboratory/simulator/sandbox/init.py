"""Process 1 of a sandbox: starts what its owner asks for and reaps what ends, as the customer's unprivileged user.

A request is a JSON object and descriptors: the request's own socket first, then standard input, output and error.

| request | answer on its own socket |
|---|---|
| `{"run": argv, "environment": …, "directory": …}` | `{}`, then `{"exit": status}`, negative for a signal |
| `{"run": …, "terminal": [rows, columns]}` | `{}` with the master of a new terminal, then `{"exit": status}` |
| `{"serve": "sftp"}` | `{}`, then `{"exit": status}` |
| `{"connect": port}` | `{}` with a connection to what listens there |

Every one may be answered by `{"error": text}`. On the socket of a program that runs, the owner sends
`{"signal": number}`; when it closes the socket, the program's process group is hung up. With `"login": true` what
belongs to the login ends then, also if the program itself has ended before (`logins`).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import secrets
import selectors
import signal
import socket
import struct
import termios
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

from ipucloud.laboratory.simulator.sandbox import kernel, listeners, processes, sftp
from ipucloud.laboratory.simulator.sandbox.logins import EndingLogins
from ipucloud.laboratory.simulator.sandbox.plan import TOOLS_FILE, Plan
from ipucloud.laboratory.simulator.sandbox.spawner import Spawner
from ipucloud.laboratory.simulator.sandbox.watch import Watch

CONNECT_SECONDS = 3.0
BACKLOG = 64
NICENESS = 10
"""Of a customer's programs: the site and this process, which ends what goes wrong, get their turn before them."""
_MESSAGE = 1 << 18
_DEFAULT_SIGNALS = (signal.SIGCHLD, signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)


def serve(control: socket.socket, plan: Plan) -> NoReturn:
    """Serve until the owner closes `control`; the end of process 1 is the end of everything in the sandbox."""
    token, path = secrets.token_hex(32), plan.place(TOOLS_FILE)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(BACKLOG)
        with suppress(FileNotFoundError):
            os.unlink(path)  # no link that is there is followed
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{listener.getsockname()[1]} {token}\n")
        socket.send_fds(control, [json.dumps({"token": token}).encode()], [listener.fileno()])
    _Init(control, plan).loop()


def clear_command_line() -> None:
    """Overwrite the arguments of this process."""
    with open("/proc/self/stat") as file:
        start, end = map(int, file.read().rsplit(")", 1)[1].split()[45:47])
    ctypes.memset(start, 0, end - start)


class _Init:
    def __init__(self, control: socket.socket, plan: Plan) -> None:
        self._control = control
        self._plan = plan
        self._spawner = None if plan.wall == "namespaces" else Spawner(plan, self._become)
        self._limits = plan.limits if plan.wall == "namespaces" or plan.own_user else _with_others(plan.limits)
        self._jobs: dict[int, socket.socket] = {}
        """The sockets of requests whose program runs, by its process; of logins until the owner closes them."""
        self._logins: set[int] = set()
        self._exited: set[int] = set()
        """Logins whose program has ended before them."""
        self._ending = EndingLogins()
        self._sources = selectors.DefaultSelector()

    def loop(self) -> NoReturn:
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # programs inherit that `nohup` had the site ignore it
        os.chdir(self._plan.home)
        self._sources.register(woken, selectors.EVENT_READ, lambda: self._reap(woken))
        self._sources.register(self._control, selectors.EVENT_READ, self._request)
        watch = Watch(self._plan)
        while True:
            pauses = [self._ending.pause, watch.pause() if self._busy() else None]
            for key, _ in self._sources.select(min((each for each in pauses if each is not None), default=None)):
                key.data()
            self._ending.look()
            watch.look()

    def _busy(self) -> bool:
        """Whether there are processes beside this one."""
        with suppress(ChildProcessError):
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            return True
        return False

    def _reap(self, woken: int) -> None:
        os.read(woken, 4096)
        with suppress(ChildProcessError):
            while (child := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = child
                if pid in self._jobs:
                    _send(self._jobs[pid], {"exit": os.waitstatus_to_exitcode(status)})
                    if pid in self._logins:
                        self._exited.add(pid)
                    else:
                        self._close(pid)

    def _hear(self, pid: int) -> None:
        if pid not in self._jobs:  # it ended a moment ago
            return
        try:
            said = self._jobs[pid].recv(_MESSAGE)
        except ConnectionResetError:  # it was closed with the exit status unread
            said = b""
        if said or pid not in self._exited:
            with suppress(OSError):
                os.killpg(pid, int(json.loads(said)["signal"]) if said else signal.SIGHUP)
        if not said:
            self._close(pid)
            if pid in self._logins:
                self._logins.remove(pid)
                self._exited.discard(pid)
                self._ending.add(pid)

    def _close(self, pid: int) -> None:
        job = self._jobs.pop(pid)
        self._sources.unregister(job)
        job.close()

    def _request(self) -> None:
        said, descriptors, _, _ = socket.recv_fds(self._control, _MESSAGE, 4)
        if not said:
            os._exit(0)
        job = socket.socket(fileno=descriptors[0])
        try:
            self._take(json.loads(said), job, descriptors[1:])
        except OSError as error:
            _send(job, {"error": error.strerror or str(error)})
            job.close()
        for descriptor in descriptors[1:]:
            os.close(descriptor)

    def _take(self, request: dict[str, Any], job: socket.socket, streams: list[int]) -> None:
        if "connect" in request:
            # In a child: a connection that has to wait for its listener would stop everything here.
            if os.fork() == 0:
                _connect(request["connect"], job, None if self._spawner is None else os.getppid())
            job.close()
            return
        size = request.get("terminal")
        master, slave = os.openpty() if size else (-1, -1)
        if size:
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        try:
            pid = self._started(request, [slave] * 3 if size else streams)
        except OSError:
            if size:
                os.close(master)
                os.close(slave)
            raise
        if size:
            socket.send_fds(job, [b"{}"], [master])
            os.close(master)
            os.close(slave)
        else:
            _send(job, {})
        self._jobs[pid] = job
        if request.get("login"):
            self._logins.add(pid)
        self._sources.register(job, selectors.EVENT_READ, lambda: self._hear(pid))

    def _started(self, request: dict[str, Any], streams: list[int]) -> int:
        if self._spawner is not None:
            return self._spawner.start(request, streams)
        pid = os.fork()
        if pid == 0:
            self._become(request, streams)
        return pid

    def _become(self, request: dict[str, Any], streams: list[int]) -> NoReturn:
        """In the child: become the program, or serve files as it would."""
        status = 127
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            for number in _DEFAULT_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            if request.get("terminal"):
                fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
            streams = [fcntl.fcntl(each, fcntl.F_DUPFD, 3) for each in streams]
            for standard, descriptor in enumerate(streams):
                os.dup2(descriptor, standard)
            os.closerange(3, 65536)
            os.nice(NICENESS)
            kernel.limit(self._limits)
            if directory := request.get("directory"):
                os.chdir(directory)
            if "serve" in request:
                status = sftp.serve(0, 1, self._plan)
            else:
                environment = self._plan.environment | request["environment"]
                os.execvpe(request["run"][0], request["run"], environment)  # noqa: S606 - the customer's, in the sandbox
        except BaseException as error:  # noqa: BLE001 - nothing may return into the loop of process 1
            with suppress(OSError):
                os.write(2, f"{error}\n".encode())
        finally:
            os._exit(status)


def _with_others(limits: Mapping[str, int]) -> dict[str, int]:
    """Limits where the kernel counts the processes of a user who has others, too, and may get more of them.

    It is `Watch` then that keeps the number of the server's own.
    """
    return {**limits, "NPROC": 2 * limits["NPROC"] + processes.threads_of_this_user()}


def _connect(port: int, job: socket.socket, process_1: int | None) -> NoReturn:
    """Connect to a port; with a `process_1` among others, only if what listens there descends from it."""
    try:
        if process_1 is not None and not listeners.is_own(port, processes.descendants(process_1)):
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        connection = _reached(port)
        socket.send_fds(job, [b"{}"], [connection.fileno()])
    except OSError as error:
        _send(job, {"error": os.strerror(error.errno or errno.ETIMEDOUT)})
    finally:
        os._exit(0)


def _reached(port: int) -> socket.socket:
    """A connection to what listens on the loopback address, of IPv4 or else of IPv6."""
    refused = OSError()
    # No look-up of names, which would load modules that are not in the sandbox.
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        connection = socket.socket(family)
        connection.settimeout(CONNECT_SECONDS)
        try:
            connection.connect((address, port))
        except OSError as error:
            refused = error
            continue
        connection.settimeout(None)
        return connection
    raise refused


def _send(job: socket.socket, message: dict[str, Any]) -> None:
    with suppress(OSError):
        job.send(json.dumps(message).encode())
