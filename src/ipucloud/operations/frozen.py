"""Whether a region is frozen, which keeps from starting whatever removes or switches off."""

from __future__ import annotations

from datetime import datetime

from ipucloud.db.documents import Fragment
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

FROZEN = "The operator has frozen removals"
"""Begins what a step waits for that a freeze keeps from starting."""
LIVE_FREEZE = Fragment("freezes.ended_at IS NULL AND freezes.expires_at > app_now()")
"""Whether a row of `freezes` is live."""


def frozen_until(region: str) -> Fragment:
    """SQL for when the last live freeze of a region expires; NULL: nothing is frozen. `region` is SQL for its slug."""
    return Fragment(
        f"(SELECT max(freezes.expires_at) FROM freezes WHERE {LIVE_FREEZE}"  # noqa: S608  # our own text
        f" AND (freezes.region IS NULL OR freezes.region = {region}))"
    )


_UNTIL = Query(f"SELECT {frozen_until('CAST(:region AS text)')} AS until", datetime)  # our own text


def blocked_by(region: str, until: datetime) -> str:
    """What a step of that region waits for, for its customer."""
    return f"{FROZEN} in {region} until {until:%Y-%m-%d %H:%M} UTC"


async def frozen(connection: Statements, region: str | None) -> datetime | None:
    """Until when removals are frozen in a region, or with None in every one; None: they are not."""
    return await _UNTIL.one(connection, {"region": region})
