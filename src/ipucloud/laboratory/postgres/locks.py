"""Two file locks say who owns a database directory.

`supervisor.lock` is held by the process that started the server: a second start fails at once.
`server.lock` is inherited by the guard, the postmaster and every backend: it becomes free only when the last of
them has ended. Whoever holds both knows that nothing of an earlier server lives, whatever a left-over pid file
says: no guessing from process ids, which get reused and which a zombie keeps.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ipucloud.laboratory.postgres.errors import EmbeddedPostgresError

POLL_SECONDS = 0.02


class LockTakenError(Exception):
    """A living process holds the lock: `holder`, its number as far as known."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"process {holder}")
        self.holder = holder


def take_lock(path: Path, deadline: float = 0.0) -> int:
    """Take a lock for this process, which writes its number into it, and return its file descriptor.

    Args:
        path: the lock file.
        deadline: until when to wait for it, on `time.monotonic`.

    Raises:
        LockTakenError: another process holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    while not _lock(descriptor):
        if time.monotonic() > deadline:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            os.close(descriptor)
            raise LockTakenError(holder or "unknown")
        time.sleep(POLL_SECONDS)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def wait_for_server_lock(path: Path, pid_file: Path, deadline: float) -> int:
    """Take the lock of the server's processes, ending those a killed starter left behind.

    Args:
        path: the lock file.
        pid_file: the data directory's `postmaster.pid`.
        deadline: when to give up, on `time.monotonic`.

    Raises:
        EmbeddedPostgresError: the earlier server does not end in time.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    stop_requested = False
    while not _lock(descriptor):
        stop_requested = stop_requested or _ask_to_stop(pid_file)
        if time.monotonic() > deadline:
            os.close(descriptor)
            raise EmbeddedPostgresError(
                f"An earlier PostgreSQL on {path.parent} is still shutting down. Try again in a minute; if it stays, "
                f"end the process named in {pid_file}."
            )
        time.sleep(POLL_SECONDS)
    return descriptor


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _ask_to_stop(pid_file: Path) -> bool:
    """Tell a postmaster that lost its guard to shut down; where the kernel does that, this only repeats it."""
    try:
        pid = int(pid_file.read_text().split(maxsplit=1)[0])
        if pid > 1 and "postgres" in _command_name(pid):
            os.kill(pid, signal.SIGINT)
            return True
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        pass  # no pid file yet or no more, or the process has just ended
    return False


def _command_name(pid: int) -> str:
    if sys.platform == "linux":
        return Path(f"/proc/{pid}/comm").read_text()
    return subprocess.run(
        ["ps", "-o", "comm=", "-p", str(pid)], capture_output=True, text=True, check=False, timeout=5
    ).stdout
