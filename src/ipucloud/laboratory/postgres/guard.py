"""The process that stands between ipucloud and PostgreSQL, so that the server never outlives its starter.

Run by path, `python -I -S guard.py`, with the standard library only. Standard input is a pipe whose other end only the
starter holds. It begins with the orders, one line of JSON. When the starter ends, in whatever way, the pipe closes and
the guard shuts the server down. When the guard itself is killed, Linux signals the server (PR_SET_PDEATHSIG; macOS has
none, there the next start ends the left-over). That signal is tied to the *thread* that started the child, and the
code between fork and exec must not run in a threaded process: reasons to do both here, in a process with one thread,
and not in the starter.

When the server is killed, its other processes become the guard's children (PR_SET_CHILD_SUBREAPER), which ends them:
one that is busy with a query would notice late, and no new server starts while it uses the shared memory.

Standard output has one line of JSON when the server takes connections, `{"ready": true}`, and one when a child ended
by itself: `{"status": <status, or -signal>, "error": "<what happened>"}`.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

FAST_SHUTDOWN = signal.SIGINT
IMMEDIATE_SHUTDOWN = signal.SIGQUIT
FAST_SHUTDOWN_SECONDS = 60
IMMEDIATE_SHUTDOWN_SECONDS = 10
READY_POLL_SECONDS = 0.01
LOG_TAIL_BYTES = 2000
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
RULES = "pg_hba.conf"
"""The file in the data directory that says who may connect, and how they have to show it."""
STATUS_LINE = 7  # of postmaster.pid (LOCK_FILE_LINE_PM_STATUS in PostgreSQL's pidfile.h, counted from 0)


class Orders(TypedDict):
    """What the starter asks for; the starter has made every directory and holds both locks."""

    initdb: list[str] | None
    """The command that fills `new_data`, when there is no `data` yet."""
    single: list[str]
    """The command that carries out `statement` on the data directory, without a server."""
    statement: str
    """Gives the superuser the password that `rules` ask for."""
    rules: str
    postgres: list[str]
    new_data: str
    data: str
    sockets: str
    log: str
    lock: int
    """File descriptor of the lock that every process of the server inherits."""
    uid: int | None
    gid: int | None


class Stopped(Exception):
    """The starter is gone or wants the server to end."""


class Ended(Exception):
    """A child that was to go on ended, or one ended with an error; the message is what it wrote to the log."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Watch:
    """Sleeps until the starter is gone, a termination signal has come, or a child has ended."""

    def __init__(self) -> None:
        self._wakeup, signals = socket.socketpair()
        signals.setblocking(False)
        self._signals = signals  # kept open: the interpreter writes to its number
        signal.set_wakeup_fd(signals.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._terminate)
        self._stopped = False

    def _terminate(self, *_: object) -> None:
        self._stopped = True

    def sleep(self, seconds: float | None) -> None:
        """Wait for an event or for the given time.

        Raises:
            Stopped: the server has to end.
        """
        readable, _, _ = select.select([sys.stdin, self._wakeup], [], [], seconds)
        if self._wakeup in readable:
            self._wakeup.recv(4096)
        if sys.stdin in readable and not os.read(sys.stdin.fileno(), 4096):
            self._stopped = True
        if self._stopped:
            raise Stopped


class Guard:
    """Fills the data directory when there is none, and runs the server until it ends or has to."""

    def __init__(self, orders: Orders, log: BinaryIO, watch: Watch) -> None:
        self._orders = orders
        self._data = Path(orders["data"])
        self._log = log
        self._watch = watch

    def run(self) -> None:
        if self._orders["initdb"]:
            self._initialise(self._orders["initdb"])
        self._clear_left_overs()
        self._close()
        self._follow(self._orders["postgres"], self._data, self._is_ready)

    def _initialise(self, initdb: list[str]) -> None:
        """Make the data directory under another name and rename it when it is whole."""
        new = Path(self._orders["new_data"])
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        if self._orders["uid"] is not None and self._orders["gid"] is not None:
            os.chown(new, self._orders["uid"], self._orders["gid"])
        self._follow(initdb, new)
        new.rename(self._data)
        directory = os.open(new.parent, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)

    def _close(self) -> None:
        """Have the server ask for passwords, before it listens for the first time.

        The rules carry a fingerprint of the superuser's password and are replaced last: whatever was interrupted, or
        put back from somewhere else, is found here and done again. The directory is the server's account's, who may
        have put links into it: none is followed.
        """
        try:
            rules = os.open(self._data / RULES, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:  # there are none, or it is a link
            present = b""
        else:
            present = os.read(rules, 4096)
            os.close(rules)
        expected = self._orders["rules"].encode()
        if present == expected:
            return
        self._follow(self._orders["single"], self._data, sent=self._orders["statement"].encode())
        new = self._data / f"{RULES}.new"
        new.unlink(missing_ok=True)
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        if self._orders["uid"] is not None and self._orders["gid"] is not None:
            os.fchown(file, self._orders["uid"], self._orders["gid"])
        os.write(file, expected)
        os.fsync(file)
        os.close(file)
        new.replace(self._data / RULES)

    def _clear_left_overs(self) -> None:
        """Take over the pid file and remove the sockets of a server that was killed.

        We hold the lock that every process of that server held, so none lives. PostgreSQL only has the process id to
        go by, and takes a zombie or a stranger with the same id for a running server. It accepts the id of its own
        parent as stale: that is us. The other lines stay, because by them PostgreSQL checks that its shared memory is
        unused. One write, never shorter than what it replaces, so that a crash leaves the old file or the new one.
        """
        try:
            pid_file = os.open(self._data / "postmaster.pid", os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            pass
        else:
            pid, _, rest = os.read(pid_file, 4096).partition(b"\n")
            os.pwrite(pid_file, str(os.getpid()).encode().zfill(len(pid)) + b"\n" + rest, 0)
            os.close(pid_file)
        for left_over in Path(self._orders["sockets"]).glob(".s.PGSQL.*"):
            left_over.unlink()

    def _is_ready(self, server: subprocess.Popen[bytes]) -> bool:
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > STATUS_LINE and lines[0] == str(server.pid) and lines[STATUS_LINE].strip() == "ready"

    def _follow(
        self,
        command: list[str],
        directory: Path,
        is_ready: Callable[[subprocess.Popen[bytes]], bool] | None = None,
        sent: bytes | None = None,
    ) -> None:
        """Run a child to its end, or end it when asked to; say when it is ready. It reads what is `sent`, else nothing.

        Raises:
            Stopped: it was ended because we were asked to.
            Ended: it ended by itself, with an error or although it is a server.
        """
        log_start = self._log.seek(0, os.SEEK_END)
        child = self._start(command, directory, sent)
        announced = is_ready is None
        try:
            while child.poll() is None:
                if is_ready is not None and not announced and is_ready(child):
                    announced = True
                    answer({"ready": True})
                self._watch.sleep(None if announced else READY_POLL_SECONDS)
        except Stopped:
            end(child)
            end_orphans()
            raise
        end_orphans()
        if child.returncode != 0 or is_ready is not None:
            ending = f"{command[0]} ended with status {child.returncode}"
            raise Ended(child.returncode, self._log_since(log_start) or ending)

    def _start(self, command: list[str], directory: Path, sent: bytes | None) -> subprocess.Popen[bytes]:
        guard = os.getpid()
        libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None

        def end_with_guard() -> None:  # runs after the change of account, which would clear the setting
            if libc is not None:
                libc.prctl(PR_SET_PDEATHSIG, FAST_SHUTDOWN)
                if os.getppid() != guard:
                    os._exit(1)

        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL if sent is None else subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            cwd=directory,
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            pass_fds=[self._orders["lock"]],
            user=self._orders["uid"],
            group=self._orders["gid"],
            extra_groups=None if self._orders["uid"] is None else [],
            preexec_fn=end_with_guard,  # noqa: PLW1509 (this process has one thread)
        )
        if child.stdin is not None and sent is not None:
            with suppress(BrokenPipeError), child.stdin:  # short enough for the pipe; its status tells the rest
                child.stdin.write(sent)
        return child

    def _log_since(self, position: int) -> str:
        with Path(self._orders["log"]).open("rb") as log:
            log.seek(max(position, log.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
            return log.read().decode(errors="replace").strip()


def main() -> int:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    watch = Watch()
    line = read_line(sys.stdin.fileno())
    if not line:
        return 0
    orders: Orders = json.loads(line)
    try:
        with Path(orders["log"]).open("ab") as log:
            Guard(orders, log, watch).run()
    except Stopped:
        return 0
    except Ended as ended:
        answer({"status": ended.status, "error": str(ended)})
    except OSError as error:
        answer({"status": 1, "error": str(error)})
    finally:
        with suppress(OSError):  # not empty: a killed server left its socket, which the next start removes
            Path(orders["sockets"]).rmdir()
    return 1


def read_line(descriptor: int) -> bytes:
    """The first line, and nothing of what follows it; empty when the other end is gone before its end."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(descriptor, 65536)
        if not part:
            return b""
        line += part
    return line


def end(child: subprocess.Popen[bytes]) -> None:
    """End a child: politely, then at once, then by force."""
    for number, seconds in (
        (FAST_SHUTDOWN, FAST_SHUTDOWN_SECONDS),
        (IMMEDIATE_SHUTDOWN, IMMEDIATE_SHUTDOWN_SECONDS),
        (signal.SIGKILL, None),
    ):
        child.send_signal(number)
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
        return


def end_orphans() -> None:
    """End and reap what a dead child left: on Linux that has become ours."""
    while True:
        for pid in children_of(os.getpid()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children_of(parent: int) -> Iterator[int]:
    """The children of a process, where there is /proc to read them from."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            _, _, fields = status.read_text(errors="replace").rpartition(")")  # the name before it may hold anything
            if int(fields.split()[1]) == parent:
                yield int(status.parent.name)


def answer(message: dict[str, object]) -> None:
    try:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the starter is gone; the closed standard input ends us


if __name__ == "__main__":
    sys.exit(main())
