"""When a delivery is tried, and when an end-point is given up. Pure."""

from __future__ import annotations

import random
from datetime import timedelta
from enum import StrEnum

PAUSES = (5.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Seconds after each failed try: ten tries over 75 hours, as the Standard Webhooks specification proposes."""

TRIES = len(PAUSES) + 1
JITTER = 0.1
"""Pauses are longer or shorter by up to this part, so that what failed together does not come back together."""

GIVEN_UP_AFTER = timedelta(days=3)
"""An end-point that has failed for so long, with no success between, is disabled."""


class DeliveryState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Disabled(StrEnum):
    """Why an end-point gets nothing: its owner said so, it answered 410, or it failed for days."""

    BY_OWNER = "by_owner"
    GONE = "gone"
    FAILING = "failing"


class Failure(StrEnum):
    """How a try ended, in words that tell nothing of our network."""

    STATUS = "status"
    REDIRECT = "redirect"
    GONE = "gone"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    REFUSED_ADDRESS = "refused_address"
    TLS = "tls"


def pause_after(tries: int, draw: random.Random) -> float | None:
    """Seconds until the next try after this many failed ones; None when that was the last."""
    if tries >= TRIES:
        return None
    return PAUSES[tries - 1] * draw.uniform(1 - JITTER, 1 + JITTER)
