"""A process of a run: spoken to in lines, never left behind."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

STOP_SECONDS = 20.0
LINE_SECONDS = 60.0


class ChildFailed(Exception):
    """A process of the run ended or fell silent; the message shows the end of its log."""


class Child:
    """One process. It speaks in lines on standard output; its standard error is kept in `log`."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.log = log
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                bufsize=1,
                env=os.environ | environment,
            )

    @classmethod
    def python(
        cls,
        *arguments: str,
        log: Path,
        environment: Mapping[str, str] = MappingProxyType({}),
        interpreter: str | None = None,
    ) -> Self:
        """Run a Python program, with this interpreter if no other is named."""
        return cls([interpreter or sys.executable, *arguments], log, environment)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")

    def line(self, seconds: float = LINE_SECONDS) -> str:
        """The next line it says. Raises ChildFailed when none comes in time."""
        assert self._process.stdout is not None
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            readable, _, _ = select.select([self._process.stdout], [], [], 0.2)
            if readable:
                if line := self._process.stdout.readline():
                    return line.rstrip("\n")
                break
        raise self.failure("said nothing")

    def terminate_and_read(self) -> str:
        """Ask it to end; what it says then."""
        self._process.terminate()
        return self.line()

    def failure(self, what: str) -> ChildFailed:
        end = self.log.read_text().splitlines()[-25:]
        return ChildFailed("\n".join([f"{self._process.args!r} {what}:", *end]))

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """End it politely, and with force when that takes too long."""
        try:
            if self.running:
                self._process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(STOP_SECONDS)
        finally:
            self.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()

    def memory(self) -> float:
        return peak_memory(self.pid)


def peak_memory(pid: int | str = "self") -> float:
    """The most memory that a process ever had resident, in MB; not what its parent had when it began."""
    status = Path(f"/proc/{pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["VmHWM"].split()[0]) / 1024


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
