"""What a cluster's life costs in minutes, by the rule as docs/billing.md words it. Shares nothing with the product.

A minute that began is a minute: minute n begins 60 n seconds after the cluster became ready, and is billed when it
begins before the cluster is asked to go. Instants count by their second.
"""

from __future__ import annotations

from datetime import datetime, timedelta


def billed_minutes(ready: datetime | None, gone: datetime | None, now: datetime) -> int:
    """Minutes of a cluster that became ready at `ready` (None: never) and was asked to go at `gone` (None: not yet)."""
    if ready is None:
        return 0
    end = (gone or now).replace(microsecond=0)
    begins = ready.replace(microsecond=0)
    minutes = 0
    while begins < end:
        minutes += 1
        begins += timedelta(seconds=60)
    return minutes
