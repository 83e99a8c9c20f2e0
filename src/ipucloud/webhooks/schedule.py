"""When a delivery is tried, and when an end-point is given up. Pure."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

PAUSES = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Seconds after each failed try: ten tries over 75 hours, as the Standard Webhooks specification proposes."""

TRIES = len(PAUSES) + 1
JITTER = 0.1
"""Pauses are longer or shorter by up to this part, so that what failed together does not come back together."""

GIVEN_UP_AFTER = timedelta(days=3)
"""An end-point that has failed for so long, with no success between, is disabled."""


def pause_after(tries: int, draw: random.Random, asked: float = 0.0) -> float | None:
    """Seconds until the next try after this many failed ones; None when that was the last.

    `asked`: so long the end-point wants to be left alone; it is, for up to a day.
    """
    if tries >= TRIES:
        return None
    return max(PAUSES[tries - 1] * draw.uniform(1 - JITTER, 1 + JITTER), min(asked, PAUSES[-1]))


def seconds_asked(retry_after: str | None, now: datetime) -> float:
    """The seconds that a `Retry-After` header asks for, as a number or as a date (RFC 9110); 0 for nonsense."""
    if retry_after is None:
        return 0.0
    if re.fullmatch(r"[0-9]{1,9}", retry_after, re.ASCII):
        return float(retry_after)
    try:
        then = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    return max(0.0, (then - now).total_seconds()) if then.tzinfo is not None else 0.0
