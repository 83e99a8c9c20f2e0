"""Times on the command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

_DURATION = re.compile(r"(?:(?P<weeks>\d+)w)?(?:(?P<days>\d+)d)?(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?")


def expiry(text: str) -> datetime:
    """The time after a duration from now, such as `2h`, `30d` or `1d12h`, or of an ISO 8601 date or time.

    UTC unless the time has an offset; a date means its beginning. Raises typer.BadParameter.
    """
    try:
        duration = _DURATION.fullmatch(text)
        if text and duration:
            return datetime.now(UTC) + timedelta(**{unit: int(n) for unit, n in duration.groupdict("0").items()})
        found = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is neither a duration such as 2h or 30d nor a date such as 2026-12-24 or 2026-12-24T18:00."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


ExpiresAt = Annotated[
    datetime | None,
    typer.Option(
        "--expires-at", parser=expiry, metavar="WHEN", help="Expiry: a duration (2h, 30d), or a date or time in UTC."
    ),
]
