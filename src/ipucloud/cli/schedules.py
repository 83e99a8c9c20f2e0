"""Schedules and repair windows as people write them: `mon-fri 08:00-18:00`, `sat,sun 02:00 180 Europe/Luxembourg`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from ipucloud.cli.output import shown
from ipucloud.cli.values import text_of
from ipucloud.client.errors import UsageError
from ipucloud.client.models import ClusterScheduleState, RepairWindow, UsePeriod

FORM = "mon-fri 08:00-20:00"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIMES = re.compile(r"(?P<starts_at>\d\d:\d\d)-(?P<ends_at>\d\d:\d\d)")
_RANGE = re.compile(r"(?P<first>[a-z]{3})(-(?P<last>[a-z]{3}))?")


def period(text: str) -> UsePeriod:
    """Days and times of a period, such as `mon-fri 08:00-20:00` or `sat,sun 10:00-14:00`. Raises typer.BadParameter."""
    try:
        days, times = text.split()
        match = _TIMES.fullmatch(times)
        if match is None:
            raise ValueError(times)
        return UsePeriod.model_validate({"days": _days(days), **match.groupdict()})
    except (ValueError, ValidationError):
        raise typer.BadParameter(f"{text!r} is not a period such as {FORM!r}: days, and times of day.") from None


def holiday(text: str) -> date:
    """A date. Raises typer.BadParameter."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date such as 2026-12-25.") from None


def holidays_in(file: Path) -> list[date]:
    """The dates in a file: one at the beginning of each line; empty lines and those with `#` do not count.

    Raises UsageError with the line that is none.
    """
    dates = []
    for number, line in enumerate(text_of(file).splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            try:
                dates.append(date.fromisoformat(words[0]))
            except ValueError:
                raise UsageError(f"{file}, line {number}: {words[0]!r} is not a date such as 2026-12-25.") from None
    return dates


def written(schedule: ClusterScheduleState) -> str:
    """The periods and time zone as they are written."""
    periods = (f"{','.join(each.days)} {each.starts_at}-{each.ends_at}" for each in schedule.periods)
    return f"{'; '.join(periods)} {schedule.time_zone}"


def facts(schedule: ClusterScheduleState | None) -> list[tuple[str, object]]:
    """Names and values of a schedule."""
    if schedule is None:
        return [("schedule", None)]
    due = schedule.due
    return [
        ("schedule", written(schedule)),
        ("holidays", [day.isoformat() for day in schedule.holidays] or None),
        ("next", None if schedule.next_at is None else f"{schedule.next_action} at {shown(schedule.next_at)}"),
        ("due", None if due is None else f"{due.action} since {shown(due.due_at)}"),
        *([("waits for", due.detail or due.waits_for)] if due is not None and due.waits_for else []),
        *([("tried again", due.retry_at)] if due is not None and due.retry_at else []),
    ]


def _days(text: str) -> Sequence[str]:
    """The days of `mon-fri` or `sat,sun`. Raises ValueError."""
    days: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(part)
        first = _DAYS.index(match["first"])
        last = _DAYS.index(match["last"] or match["first"])
        days += [_DAYS[number % 7] for number in range(first, last + 1 if last >= first else last + 8)]
    return days


_WINDOW_FORM = "sat,sun 02:00 180 Europe/Luxembourg"


def window(text: str) -> RepairWindow:
    """Days, time of day, minutes and time zone. Raises typer.BadParameter; the service checks the time zone."""
    try:
        days, starts_at, minutes, time_zone = text.split()
        return RepairWindow.model_validate(
            {"days": days.split(","), "starts_at": starts_at, "minutes": int(minutes), "time_zone": time_zone}
        )
    except (ValueError, ValidationError):
        raise typer.BadParameter(
            f"{text!r} is not a window such as {_WINDOW_FORM!r}: days, time of day, minutes, time zone."
        ) from None


def window_text(window: RepairWindow) -> str:
    """The window as it is written."""
    return f"{','.join(window.days)} {window.starts_at} {window.minutes} {window.time_zone}"


Window = Annotated[
    RepairWindow | None,
    typer.Option(
        "--repair-window",
        parser=window,
        metavar="WINDOW",
        help=f"When repairs may begin without a request, like '{_WINDOW_FORM}'.",
    ),
]
AutoRepair = Annotated[
    bool, typer.Option("--auto-repair/--no-auto-repair", help="Replace faulty hardware without a request.")
]
AutoRepairChange = Annotated[
    bool | None, typer.Option("--auto-repair/--no-auto-repair", help="Replace faulty hardware without a request.")
]
