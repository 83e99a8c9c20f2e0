"""The end of logins: what belongs to one ends with it, as on a machine whose logins keep no processes.

To a login belong the processes of its session. Those that ignore SIGHUP, as `nohup` has it, stay, and so do those that
began a session of their own, as `setsid` and `tmux` do. The others get SIGHUP after a moment, in which a program can
become one of those, and SIGKILL after another. Before they are killed they are stopped: of processes that only make
others, none makes one more.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ipucloud.laboratory.simulator.sandbox import processes

GRACE_SECONDS = 3.0
"""Before SIGHUP, and after it."""
PAUSE_SECONDS = 0.1
_ZOMBIE = "Z"


@dataclass
class _Ending:
    hang_up_at: float
    until: float
    hung_up: set[int] = field(default_factory=set)


class EndingLogins:
    """The sessions of ended logins, until none of their processes is left. Looked after by process 1."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._sessions: dict[int, _Ending] = {}

    @property
    def pause(self) -> float | None:
        """Seconds until the next look; None: there is nothing to look after."""
        return PAUSE_SECONDS if self._sessions else None

    def add(self, session: int) -> None:
        """A login has ended."""
        now = self._now()
        self._sessions[session] = _Ending(now + GRACE_SECONDS, now + 2 * GRACE_SECONDS)

    def look(self) -> None:
        """End what is left of them."""
        for session, ending in list(self._sessions.items()):
            members = _members(session)
            if not members:
                del self._sessions[session]
            elif self._now() < ending.hang_up_at:
                continue
            elif self._now() < ending.until:
                for pid in members - ending.hung_up:
                    processes.send(pid, signal.SIGHUP, signal.SIGCONT)
                ending.hung_up |= members
            else:
                processes.end(partial(_members, session))


def _members(session: int) -> set[int]:
    """The processes of a session that are to end with it."""
    return {pid for pid in processes.descendants(os.getpid()) if _belongs(str(pid), session)}


def _belongs(process: str, session: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            state, _, _, its_session, *_ = file.read().rpartition(")")[2].split()
        if int(its_session) != session or state == _ZOMBIE:
            return False
        with open(f"/proc/{process}/status") as file:
            ignored = next(line for line in file if line.startswith("SigIgn:")).split()[1]
    except (OSError, StopIteration):  # it has ended
        return False
    return not int(ignored, 16) & 1 << signal.SIGHUP - 1
