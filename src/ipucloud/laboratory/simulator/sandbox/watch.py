"""Limits that the kernel has no number for: the memory of all processes of a sandbox together, and its disk; and how
many processes there are, which the kernel counts by user, where the user is not that of this sandbox alone.

As the kernel's own watch over memory does, this one ends the largest processes when there is none left. A disk that is
too full ends what fills it: processes are killed while it grows. Of too many processes, those of the largest session
end. All look once in a while, so that a sandbox can hold a little more than its limit for a moment.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from ipucloud.laboratory.simulator.sandbox import processes
from ipucloud.laboratory.simulator.sandbox.plan import Plan
from ipucloud.laboratory.simulator.sandbox.processes import Process

SECONDS = 1.0
SECONDS_WHEN_TIGHT = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")
_STEP = 20
"""The disk is measured when this part of it, or of its entries, was taken since."""
_ENTRY = 4096
"""What an entry takes of the disk at least: a million empty files are not nothing."""


class Watch:
    """Looks at a sandbox from its process 1."""

    def __init__(self, plan: Plan) -> None:
        self._memory = plan.memory
        self._disk = plan.disk_size
        self._processes = plan.limits["NPROC"]
        self._folders = [plan.home, *(plan.place(f"/{name}") for name in plan.disk_folders)]
        self._next = 0.0
        self._tight = False
        self._free: tuple[int, int] | None = None
        self._used = 0
        self._killed = False
        self._measured: int | None = None
        """Where the number comes from that a measurement finds."""

    def pause(self) -> float:
        """Seconds until the next look."""
        return max(0.0, self._next - time.monotonic())

    def look(self) -> None:
        """End what takes more than there is, if it is time to look."""
        now = time.monotonic()
        if now < self._next:
            return
        others = processes.descendants(os.getpid())
        self._tight = False
        self._look_at_number(others)
        self._look_at_memory(others)
        self._look_at_disk(others)
        self._next = now + (SECONDS_WHEN_TIGHT if self._tight else SECONDS)

    def _look_at_number(self, others: Mapping[int, Process]) -> None:
        threads: Counter[int] = Counter()
        for process in others.values():
            threads[process.session] += process.threads
        self._tight |= threads.total() > self._processes // 4
        if threads.total() > self._processes:
            [(largest, _)] = threads.most_common(1)
            processes.end(lambda: _members(largest))

    def _look_at_memory(self, others: Iterable[int]) -> None:
        sizes = {pid: _resident(pid) for pid in others}
        total = sum(sizes.values())
        self._tight |= total > self._memory // 4
        for pid in sorted(sizes, key=lambda pid: sizes[pid], reverse=True):
            if total <= self._memory:
                break
            processes.send(pid, signal.SIGKILL)
            total -= sizes[pid]

    def _look_at_disk(self, others: Iterable[int]) -> None:
        if self._measured is not None:
            self._learn(self._measured, others)
            return
        status = os.statvfs(self._folders[0])
        free = status.f_bavail * status.f_frsize, status.f_ffree * _ENTRY
        if (
            self._free is None
            or max(before - now for before, now in zip(self._free, free, strict=True)) > self._disk // _STEP
            or self._used > self._disk
        ):
            self._free = free
            self._measure()

    def _measure(self) -> None:
        """Measure in a child: the walk may be long."""
        measured, answer = os.pipe()
        os.set_blocking(measured, False)
        try:
            child = os.fork()
        except OSError:  # of processes there are as many as may be
            self._free = None
            os.close(measured)
        else:
            if child == 0:
                try:
                    os.write(answer, str(sum(map(_size, self._folders))).encode())
                finally:
                    os._exit(0)
            self._measured = measured
        os.close(answer)

    def _learn(self, source: int, others: Iterable[int]) -> None:
        try:
            said = os.read(source, 64)
        except BlockingIOError:
            return
        os.close(source)
        self._measured = None
        before, self._used = self._used, int(said or 0)
        # What was written until the programs were killed is found after them, and is nobody's any more.
        self._killed = self._used > self._disk and self._used > before and not self._killed
        if self._killed:
            for pid in others:
                processes.send(pid, signal.SIGKILL)


def _size(folder: str) -> int:
    """What is in a folder, in bytes, by the blocks that it takes, and at least `_ENTRY` for each entry."""
    total, pending = 0, [folder]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                with suppress(OSError):  # it has just been removed
                    total += max(entry.stat(follow_symlinks=False).st_blocks * 512, _ENTRY)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
    return total


def _members(session: int) -> set[int]:
    """The processes of this sandbox that are of one session."""
    return {pid for pid, process in processes.descendants(os.getpid()).items() if process.session == session}


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except OSError:
        return 0
    return (resident - shared) * _PAGE
