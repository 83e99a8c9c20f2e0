"""What a cluster's life costs in minutes, by the rule as docs/billing.md words it. Shares nothing with the product.

A minute that began is a minute: minute n begins 60 n seconds after the cluster became ready for the first time, and is
billed when it begins while the cluster is in use: from when it is ready to when it is asked to rest, or to go. Instants
count by their second.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

MINUTE = timedelta(seconds=60)
SECOND = timedelta(seconds=1)
Span = tuple[datetime, datetime | None]
"""From when to when a cluster was in use; None: it still is."""


def billed_minutes(uses: Sequence[Span], now: datetime) -> int:
    """Minutes of a cluster that was in use like this, in time order."""
    return counted(uses[0][0], uses, now) if uses else 0


def counted(anchor: datetime, uses: Sequence[Span], now: datetime) -> int:
    """Minutes that begin in one of the spans, when the first one begins at `anchor`."""
    spans = [(_second(start), _second(end or now)) for start, end in uses]
    minutes, begins = 0, _second(anchor)
    while begins < spans[-1][1]:
        minutes += any(start <= begins < end for start, end in spans)
        begins += MINUTE
    return minutes


def within(uses: Sequence[Span], now: datetime, slack: timedelta) -> tuple[int, int]:
    """The fewest and the most minutes, when each instant may have been up to `slack` earlier or later."""
    if not uses:
        return 0, 0
    if not slack:
        return (billed_minutes(uses, now),) * 2
    narrow = [(start + slack, end and end - slack) for start, end in uses]
    wide = [(start - slack, end and end + slack) for start, end in uses]
    seconds = int(slack / SECOND) + 1
    anchors = [uses[0][0] + shift * SECOND for shift in range(-seconds, seconds + 1)]
    return min(counted(each, narrow, now) for each in anchors), max(counted(each, wide, now) for each in anchors)


def _second(instant: datetime) -> datetime:
    return instant.replace(microsecond=0)
