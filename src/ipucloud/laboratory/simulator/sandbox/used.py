"""What the processes of a sandbox take of this machine, as its kernel counts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_SECONDS = 1.0
"""The shortest time over which a load is measured: the kernel counts in hundredths of a second."""


class Used(NamedTuple):
    """Processor seconds since the start, of ended processes too, and bytes of memory that are no other's."""

    cpu_seconds: float
    memory: int


NOTHING = Used(0.0, 0)


def used_by(pid: int) -> Used:
    """Of a process and its descendants; of those that end meanwhile, nothing."""
    total = NOTHING
    pending = [pid]
    while pending:
        process = Path("/proc", str(pending.pop()))
        try:
            # The second field is the program's name, which may have spaces and parentheses in it.
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            _, resident, shared, *_ = map(int, (process / "statm").read_text().split())
            pending += map(int, (process / "task" / process.name / "children").read_text().split())
        except (OSError, ValueError):
            continue
        ticks = sum(map(int, fields[11:15]))  # in user and kernel mode, of itself and of children that ended
        total = Used(total.cpu_seconds + ticks / _TICKS, total.memory + (resident - shared) * _PAGE)
    return total


class Processors:
    """How busy all processors of this machine are with a sandbox, from one question to the next."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._at = now()
        self._used = 0.0
        self._percent = 0.0

    def percent(self, cpu_seconds: float) -> float:
        """The load since the last question, of 100 %; the same as then when that was within a second."""
        now = self._now()
        if now - self._at >= _SECONDS:
            share = (cpu_seconds - self._used) / (now - self._at) / (os.cpu_count() or 1)
            self._percent = round(100.0 * min(1.0, max(0.0, share)), 1)
            self._at, self._used = now, cpu_seconds
        return self._percent
