"""When requests are retried, and after which pause."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

AGAIN = frozenset({408, 429, 502, 503, 504})
"""Statuses after which the same request, with the same key, is retried."""


@dataclass(frozen=True)
class Retry:
    """At most `attempts` attempts within `longest` seconds; pauses double from `first` to `most`, with jitter.

    The server's Retry-After is the minimum pause. Retries have the idempotency key of the first attempt, so they are
    safe whatever its effect.
    """

    attempts: int = 5
    longest: float = 60.0
    first: float = 0.25
    most: float = 8.0
    random: Callable[[], float] = field(default=random.random)

    def pause(self, failures: int, spent: float, retry_after: float | None) -> float | None:
        """Seconds to wait after `failures` tries that took `spent` seconds; None: give up."""
        if failures >= self.attempts:
            return None
        limit = min(self.most, self.first * 2.0 ** (failures - 1))
        seconds = (retry_after or 0.0) + limit * (0.5 + 0.5 * self.random())
        return seconds if spent + seconds <= self.longest else None


NO_RETRY = Retry(attempts=1)


def retry_after_seconds(header: str | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> float | None:
    """The value of a Retry-After header, a number of seconds or a date; None for anything else."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, OverflowError):  # no date, or one that no datetime holds
        return None
    if moment.tzinfo is None:
        return None
    return max(0.0, (moment - now()).total_seconds())
