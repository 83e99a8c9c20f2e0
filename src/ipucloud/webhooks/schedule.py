"""When a delivery is attempted, and when an endpoint is disabled. Pure."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

PAUSES = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Seconds after each failed attempt: ten attempts over 75 hours, as the Standard Webhooks specification proposes."""

TRIES = len(PAUSES) + 1
JITTER = 0.1
"""Jitter: pauses vary by up to this fraction, so that simultaneous failures are not retried simultaneously."""

GIVEN_UP_AFTER = timedelta(days=3)
"""An endpoint that has failed for this long without a success is disabled."""


def pause_after(tries: int, draw: random.Random, requested: float = 0.0) -> float | None:
    """Seconds until the next attempt after this many failed ones; None after the last.

    `requested`: the pause that the endpoint requested, respected for up to a day.
    """
    if tries >= TRIES:
        return None
    return max(PAUSES[tries - 1] * draw.uniform(1 - JITTER, 1 + JITTER), min(requested, PAUSES[-1]))


def retry_seconds(retry_after: str | None, now: datetime) -> float:
    """The seconds of a `Retry-After` header, a number or a date (RFC 9110); 0 if invalid."""
    if retry_after is None:
        return 0.0
    if re.fullmatch(r"[0-9]{1,9}", retry_after, re.ASCII):
        return float(retry_after)
    try:
        then = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):  # no date, or one that no datetime holds
        return 0.0
    return max(0.0, (then - now).total_seconds()) if then.tzinfo is not None else 0.0
