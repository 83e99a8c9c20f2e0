"""Named places in the code at which a test may end, stop or break this process. Without arming, they do nothing.

A failpoint is named by a literal: `failpoint("engine.claimed")`. One that covers many places, such as the calls to a
site, adds the specific one: `failpoint("site.before", call)` is the point `site.before:<call>`.
`tests/crash/failpoints.md` lists all, and the crash matrix reaches every one of them.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """`kill`: SIGKILL to this process. `stop`: SIGSTOP, until SIGCONT. `raise`: FailpointReached."""

    KILL = "kill"
    STOP = "stop"
    RAISE = "raise"


class FailpointReached(Exception):
    """An unforeseen fault, raised on purpose."""


@dataclass(frozen=True, slots=True)
class Trap:
    """Act when `point` is reached for the `hit`-th time since the process was armed, or since `after` was reached."""

    point: str
    hit: int
    action: Action
    after: str | None = None


class Armed:
    """Counts a process's points; `reached` is called for each before a trap acts on it."""

    def __init__(self, traps: Sequence[Trap], reached: Callable[[str], None]) -> None:
        self._reached = reached
        self._waiting = {trap: trap.hit for trap in traps}
        self._begun = {trap for trap in traps if trap.after is None}

    def __call__(self, point: str) -> None:
        self._reached(point)
        for trap in self._begun:
            self._waiting[trap] -= trap.point == point
        self._begun |= {trap for trap in self._waiting if trap.after == point}
        due = [trap for trap, hits in self._waiting.items() if hits == 0]
        for trap in due:
            del self._waiting[trap]
            self._begun.discard(trap)
        for trap in due:
            _act(trap)


_armed: Callable[[str], None] | None = None


def arm(armed: Callable[[str], None] | None) -> None:
    """Call `armed` at every point of this process; None disarms it. For the entry of a test's process."""
    global _armed  # noqa: PLW0603  # one process, one plan: an unarmed point must cost no more than this check
    _armed = armed


def failpoint(name: str, which: str = "") -> None:
    """The point `name`, or `name:which`."""
    if _armed is not None:
        _armed(f"{name}:{which}" if which else name)


def _act(trap: Trap) -> None:
    match trap.action:
        case Action.KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        case Action.STOP:
            os.kill(os.getpid(), signal.SIGSTOP)
        case Action.RAISE:
            raise FailpointReached(trap.point)
