"""Processes of this machine by their descent, as /proc shows them, and their end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Set
from contextlib import suppress
from typing import NamedTuple

_ROUNDS = 16


class Process(NamedTuple):
    """A process: its parent, its session, and how many threads it has."""

    parent: int
    session: int
    threads: int


def descendants(of: int) -> dict[int, Process]:
    """The processes that descend from one, by their numbers, with those that have ended and are not yet reaped.

    A process whose first thread alone has ended looks like these, and may go on.
    """
    children: dict[int, list[int]] = {}
    known = {int(name): process for name in os.listdir("/proc") if name.isdecimal() and (process := _process(name))}
    for pid, process in known.items():
        children.setdefault(process.parent, []).append(pid)
    members: dict[int, Process] = {}
    pending = [of]
    while pending:
        for pid in children.get(pending.pop(), ()):
            members[pid] = known[pid]
            pending.append(pid)
    return members


def threads_of_this_user() -> int:
    """How many threads there are of this process's user, on all of the machine that is seen."""
    total = 0
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdecimal() and os.stat(f"/proc/{name}").st_uid == os.geteuid():
                total += 0 if (process := _process(name)) is None else process.threads
    return total


def end(members: Callable[[], Set[int]]) -> None:
    """Kill the processes that are found, and stop them before: of those that only make others, none makes one more."""
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        remaining = members() - stopped
        if not remaining:
            break
        for pid in remaining:
            send(pid, signal.SIGSTOP)
        stopped |= remaining
    for pid in stopped:
        send(pid, signal.SIGKILL)


def end_descendants() -> None:
    """Kill all that descends from this process, which is their reaper, and wait for their end."""
    me = os.getpid()
    with suppress(ChildProcessError):  # none is left
        while True:
            end(lambda: descendants(me).keys())
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def send(pid: int, *numbers: signal.Signals) -> None:
    """Send signals to a process, if it is there."""
    with suppress(OSError):
        for number in numbers:
            os.kill(pid, number)


def _process(name: str) -> Process | None:
    try:
        with open(f"/proc/{name}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except (OSError, ValueError):  # it has ended
        return None
    return Process(int(fields[1]), int(fields[3]), int(fields[17]))
