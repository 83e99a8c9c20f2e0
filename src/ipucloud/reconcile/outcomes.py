"""How a reconcile pass can end. Each outcome remembers where in the code it was decided."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass, field

BACKOFF_CAP_SECONDS = 60.0


def _decided_at() -> str:
    """File and line that created the outcome: the caller of the dataclass's generated `__init__`."""
    frame = sys._getframe(3)
    file = frame.f_code.co_filename.rpartition(os.sep)[2]  # runs in every pass: a Path would be its slowest part
    return f"{file}:{frame.f_lineno}"


@dataclass(frozen=True, slots=True)
class Outcome:
    where: str = field(default_factory=_decided_at, kw_only=True)


@dataclass(frozen=True, slots=True)
class Go(Outcome):
    """Progress was made and more can be done now: run again under the same lease."""


@dataclass(frozen=True, slots=True)
class Wait(Outcome):
    """Nothing to do until something changes: run again after `recheck` seconds or at the next wake."""

    reason: str
    recheck: float


@dataclass(frozen=True, slots=True)
class Done(Outcome):
    """The object is in its desired state; only a wake makes it due again."""


@dataclass(frozen=True, slots=True)
class Retry(Outcome):
    """A failure that may pass: run again after `after` seconds. None: a backoff that grows with the attempts."""

    error: str
    after: float | None = None


@dataclass(frozen=True, slots=True)
class Park(Outcome):
    """A person is needed. The object stays as it is until it is woken."""

    reason: str


def backoff(attempt: int, draw: random.Random, *, first: float = 1.0) -> float:
    """Seconds before try `attempt` + 1: full jitter below `first` × 2^(attempt − 1), at most a minute.

    Full jitter spreads a crowd that failed together over the whole window.
    """
    ceiling = min(BACKOFF_CAP_SECONDS, first * 2 ** min(attempt - 1, 16))
    return draw.uniform(ceiling / 10, ceiling)


def ending(outcome: Outcome, attempt: int, draw: random.Random) -> dict[str, object]:
    """The parameters of `statements.FINISH`: when the item is due again (None: only when woken), and the reason.

    Raises TypeError for an outcome that does not end a pass.
    """
    match outcome:
        case Wait(recheck=seconds):
            return {"wait": seconds, "attempt": 0, "error": None, "parked": False}
        case Retry(error=error, after=after):
            wait = backoff(max(attempt, 1), draw) if after is None else after
            return {"wait": wait, "attempt": attempt, "error": f"{error} ({outcome.where})", "parked": False}
        case Park(reason=reason):
            return {"wait": None, "attempt": 0, "error": f"{reason} ({outcome.where})", "parked": True}
        case Done():
            return {"wait": None, "attempt": 0, "error": None, "parked": False}
        case _:
            raise TypeError(f"{outcome!r} does not end a reconcile pass")
