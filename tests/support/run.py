"""One run of the suite: where it writes, how it ends, and how long its files took.

The process that the user started owns the run. Everything that tests start inherits the run's mark, and everything that
they write to temporary directories is in the run's own; both are gone when it ends, also by Ctrl-C or SIGTERM. A run
that was killed outright leaves its directories to the next.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import os
import resource
import shutil
import signal
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import pytest

MARK = "IPU_TEST_RUN"
"""The variable that every process of a run inherits: the run's own directory."""
PREFIX = "ipucloud-run-"
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 (private directories are made in it)
NEEDED_BYTES = 2_000_000_000
SHOWN = 10
GROWN_BYTES = 16_000_000
MOST_MEGABYTES = 600
"""What a process that runs tests may take in the default run; the goal is 500."""
REMEDY = "Import what few tests need where they need it; what takes much runs in `tests.support.own_process`."


def fast_storage() -> Path:
    """Where databases are written: memory when there is enough of it, else the disk; in the run's own directory."""
    enough = os.access(SHARED_MEMORY, os.W_OK) and shutil.disk_usage(SHARED_MEMORY).free > NEEDED_BYTES
    storage = SHARED_MEMORY if enough else Path(tempfile.gettempdir())
    if MARK in os.environ and enough:
        storage = SHARED_MEMORY / Path(os.environ[MARK]).name
        storage.mkdir(exist_ok=True)
        storage.chmod(0o711)  # root's PostgreSQL runs under another account
    return storage


class Run:
    """The owner's hooks."""

    def __init__(self) -> None:
        _remove_abandoned()
        self._folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._folder.chmod(0o1777)  # as the directory in which it is: tests use other accounts, too
        self._lock = _locked(self._folder)
        self._environment = {MARK: str(self._folder), "TMPDIR": str(self._folder)}
        os.environ.update(self._environment)
        tempfile.tempdir = None
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._peaks: list[int] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._took_too_much(session.config) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        self._peaks.append(getattr(node, "workeroutput", {}).get("megabytes", 0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if len(self._seconds) > 1:
            terminalreporter.section("slowest files")
            slowest = sorted(self._seconds.items(), key=lambda pair: -pair[1])[:SHOWN]
            for path, seconds in slowest:
                terminalreporter.write_line(f"{seconds:7.1f} s {path}")
        if self._peaks:
            terminalreporter.write_line(f"most memory of a process that ran tests: {max(self._peaks)} MB")
        if self._took_too_much(terminalreporter.config):
            terminalreporter.write_line(f"FAILED: that is more than {MOST_MEGABYTES} MB. {REMEDY}", red=True)

    def _took_too_much(self, config: pytest.Config) -> bool:
        from tests.support.selection import is_default_run  # a plugin, which pytest imports first

        return is_default_run(config) and max(self._peaks, default=0) > MOST_MEGABYTES

    def pytest_unconfigure(self) -> None:
        """End what the run's tests left running, and remove what they left on disk."""
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # an impatient second Ctrl-C
        try:
            _end_processes(str(self._folder))
            for folder in (self._folder, SHARED_MEMORY / self._folder.name):
                shutil.rmtree(folder, ignore_errors=True)
            self._lock.close()
        finally:
            for name in self._environment:
                os.environ.pop(name, None)
            tempfile.tempdir = None
            signal.signal(signal.SIGINT, before)


def begin(config: pytest.Config) -> None:
    """For the process that the user started, and for those that it starts to run tests."""
    # A shell that starts a run in the background has it and all its children ignore Ctrl-C, which tests send.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # by `nohup`
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not hasattr(config, "workerinput"):
        if MARK in os.environ:  # pytest in a test: the run is somebody else's
            return
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        config.pluginmanager.register(Run(), "run of the suite")


def report_memory(config: pytest.Config) -> None:
    """Tell the owner how much memory this process took at most."""
    if hasattr(config, "workeroutput"):
        config.workeroutput["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


class MemoryTrimmer:
    """Returns to the system what tests have let go of, when it is much: the C library would keep it."""

    def __init__(self) -> None:
        self._kept = 0

    def look(self) -> None:
        """After a test: an application of the API is circles of objects, of seven megabytes."""
        if _resident_bytes() > self._kept + GROWN_BYTES:
            gc.collect()
            trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
            if trim is not None:
                trim(0)
            self._kept = _resident_bytes()


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _locked(folder: Path) -> IO[str]:
    """Held as long as the run's owner lives."""
    lock = (folder / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def _remove_abandoned() -> None:
    """Remove the directories of runs that nobody owns any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), (folder / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _end_processes(str(folder))
            for abandoned in (folder, SHARED_MEMORY / folder.name):
                shutil.rmtree(abandoned, ignore_errors=True)


def _end_processes(mark: str) -> None:
    """Kill every process that has the mark. One that starts another while it is looked for has it found next time."""
    while marked := list(_marked(mark)):
        for pid in marked:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _marked(mark: str) -> Iterator[int]:
    setting = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        with suppress(OSError):  # it has ended, or is another account's
            if pid != os.getpid() and setting in (folder / "environ").read_bytes().split(b"\0"):
                yield pid
