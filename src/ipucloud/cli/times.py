"""Times as people read and write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

_DURATION = re.compile(r"(?:(?P<weeks>\d+)w)?(?:(?P<days>\d+)d)?(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?")

_UNITS = ((86_400, "day"), (3_600, "h"), (60, "min"))
_LONGEST = 60 * 86_400
"""Seconds; a time further away is a date."""


def moment(text: str) -> datetime:
    """The time after a duration from now, such as `2h`, `30d` or `1d12h`, or of an ISO 8601 date or time.

    UTC unless the time has an offset; a date means its beginning. Raises typer.BadParameter.
    """
    try:
        match = _DURATION.fullmatch(text)
        if text and match:
            units = {unit: int(number) for unit, number in match.groupdict("0").items()}
            return datetime.now(UTC).replace(microsecond=0) + timedelta(**units)
        parsed = datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is neither a duration such as 2h or 30d nor a date such as 2026-12-24 or 2026-12-24T18:00."
        ) from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def past(text: str) -> datetime:
    """As `moment`, but a duration is one that has passed. Raises typer.BadParameter."""
    when = moment(text)
    return when - 2 * (when - datetime.now(UTC).replace(microsecond=0)) if _DURATION.fullmatch(text) else when


Since = Annotated[
    datetime | None,
    typer.Option(
        "--since", parser=past, metavar="WHEN", help="Only later ones: a duration (2h, 30d), or a date or time in UTC."
    ),
]
ExpiresAt = Annotated[
    datetime | None,
    typer.Option(
        "--expires-at", parser=moment, metavar="WHEN", help="Expiry: a duration (2h, 30d), or a date or time in UTC."
    ),
]


WaitUntil = Annotated[
    datetime | None,
    typer.Option(
        "--wait-until",
        parser=moment,
        metavar="WHEN",
        help="As --wait-for-capacity, until then (default: for a day): a duration (2h, 3d), or a date or time in UTC.",
    ),
]


def relative(moment: datetime, now: datetime | None = None) -> str:
    """Such as "3 min ago" or "in 2 days"; a date when that is months away."""
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    if abs(seconds) > _LONGEST:
        return f"{moment.astimezone(UTC):%Y-%m-%d}"
    for length, unit in _UNITS:
        number = int(abs(seconds) // length)
        if number:
            amount = f"{number} {unit}{'s' if unit == 'day' and number > 1 else ''}"
            return f"{amount} ago" if seconds > 0 else f"in {amount}"
    return "just now" if seconds >= 0 else "in seconds"


def duration(seconds: float) -> str:
    """Such as "12 s", "2 min 5 s" or "1 h 3 min"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def minute(moment: datetime | None) -> str | None:
    """A time of billing, which is never relative."""
    return None if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%MZ}"


def utc(moment: datetime | None) -> datetime | None:
    """A time from the command line; UTC unless it has an offset."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


PeriodStart = Annotated[
    datetime | None,
    typer.Option(
        parser=past, metavar="WHEN", help="A duration (1h, 7d), or a date or time in UTC. Default: an hour ago."
    ),
]
PeriodEnd = Annotated[datetime | None, typer.Option(parser=past, metavar="WHEN", help="The same, later. Default: now.")]
PeriodStep = Annotated[
    int | None, typer.Option(min=60, max=86_400, metavar="SECONDS", help="Length of a step, a multiple of 60.")
]
"""A period of metrics, and its steps."""
