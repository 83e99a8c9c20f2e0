"""Days of the week and time zones as requests write them, and schedules of clusters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal
from uuid import UUID
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from ipucloud.contract.fields import Answer, Body


class Weekday(StrEnum):
    """A day of the week, in the order of the calendar."""

    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


_time_zones = cache(available_timezones)


def _known(time_zone: str) -> str:
    known = _time_zones()
    if time_zone in known:
        return time_zone
    city = time_zone.rpartition("/")[2]
    near = get_close_matches(time_zone, known, 3) or get_close_matches(
        city, [each for each in known if city in each], 3
    )
    meant = f" such as {', '.join(near)}" if near else ", like Europe/Luxembourg"
    raise PydanticCustomError("unknown_time_zone", "No time zone has this name; write one of IANA's" + meant)


def _distinct_days(days: list[Weekday]) -> list[Weekday]:
    if len(set(days)) < len(days):
        raise PydanticCustomError("repeated_day", "Name each day once")
    return sorted(days, key=list(Weekday).index)


Days = Annotated[
    list[Annotated[Weekday, Field(strict=False)]],
    AfterValidator(_distinct_days),
    Field(min_length=1, max_length=7),
]
TimeZone = Annotated[
    str,
    AfterValidator(_known),
    Field(max_length=64, description="Name of an IANA time zone.", examples=["Europe/Luxembourg"]),
]


class ScheduledAction(StrEnum):
    """What a schedule does with its cluster."""

    SUSPEND = "suspend"
    RESUME = "resume"


ScheduleWaitsFor = Literal[
    "operation",
    "budget_reached",
    "capacity_exhausted",
    "cost_limit_reached",
    "funds_exhausted",
    "payment_overdue",
    "quota_exceeded",
    "state_conflict",
    "resume_failed",
]
MAX_PERIODS = 50
MAX_HOLIDAYS = 400
MINUTES_OF_DAY = 1440
_MINUTES_OF_WEEK = 7 * MINUTES_OF_DAY
_WAITS_FOR = (
    "Why it has not begun although its time has come: `operation` (another one runs on the cluster), the code with"
    " which a resume was refused, or `resume_failed` (one that it began did not succeed); null: it begins within"
    " seconds, or is under way."
)


def _written_out(value: object) -> object:
    """Numbers would be taken for seconds since 1970."""
    if not isinstance(value, str | date):
        raise PydanticCustomError("date_form", "Write a date like 2026-12-25")
    return value


def _distinct(days: list[date]) -> list[date]:
    if len(set(days)) < len(days):
        raise PydanticCustomError("repeated_day", "Name each day once")
    return sorted(days)


Holiday = Annotated[date, Field(strict=False), BeforeValidator(_written_out)]


class UsePeriod(Body):
    """A period on some days of each week, which belongs to the day on which it begins."""

    days: Days = Field(description="Days on which the period begins.", examples=[["mon", "tue", "wed", "thu", "fri"]])
    starts_at: str = Field(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="Time of day in `time_zone`.", examples=["08:00"]
    )
    ends_at: str = Field(
        pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
        description="Time of day in `time_zone`; one that is not after `starts_at` is on the following day.",
        examples=["20:00"],
    )

    @property
    def minutes(self) -> tuple[int, int]:
        """Beginning and end, in minutes of the clock since the midnight before it."""
        starts, ends = minute_of(self.starts_at), minute_of(self.ends_at)
        return starts, ends if ends > starts else ends + MINUTES_OF_DAY


def minute_of(time: str) -> int:
    """Minutes since midnight of `hh:mm`."""
    hours, _, minutes = time.partition(":")
    return 60 * int(hours) + int(minutes)


class ClusterSchedule(Body):
    """When a cluster is in use: outside of its periods it is suspended.

    The cluster is resumed when a period begins and suspended when it ends; periods that adjoin are one. A period that
    would begin on a holiday does not take place. When the clocks skip a time, it is when they are put forward; when
    they show it twice, the first time.
    """

    time_zone: TimeZone
    periods: list[UsePeriod] = Field(
        min_length=1, max_length=MAX_PERIODS, description="When the cluster is in use. They do not overlap."
    )
    holidays: Annotated[list[Holiday], AfterValidator(_distinct)] = Field(
        default_factory=list,
        max_length=MAX_HOLIDAYS,
        description="Dates in `time_zone` on which no period begins.",
        examples=[["2026-12-25", "2026-12-26"]],
    )

    @model_validator(mode="after")
    def _make_sense(self) -> ClusterSchedule:
        week = sorted(self._week())
        for (_, ends, one), (starts, _, other) in pairwise([*week, _later(week[0])]):
            if starts < ends:
                raise PydanticCustomError(
                    "overlapping_periods",
                    "Periods must not overlap: {one} and {other} do; write them as one",
                    {"one": one, "other": other},
                )
        if not self.holidays and sum(ends - starts for starts, ends, _ in week) == _MINUTES_OF_WEEK:
            raise PydanticCustomError(
                "never_suspends",
                "These periods leave no time in which the cluster is suspended; set no schedule instead",
            )
        return self

    def _week(self) -> Iterator[tuple[int, int, str]]:
        """Beginning and end in minutes of the week, and the period's name for people."""
        for period in self.periods:
            starts, ends = period.minutes
            for day in period.days:
                midnight = list(Weekday).index(day) * MINUTES_OF_DAY
                yield midnight + starts, midnight + ends, f"{day.value} {period.starts_at}-{period.ends_at}"


def _later(period: tuple[int, int, str]) -> tuple[int, int, str]:
    """The same a week later: the last period of a week may reach into the first one of the next."""
    starts, ends, name = period
    return starts + _MINUTES_OF_WEEK, ends + _MINUTES_OF_WEEK, name


class DueActionOut(Answer):
    """What the schedule is to do now, and has not done."""

    action: Literal["suspend", "resume"] = Field(description="`suspend` or `resume`.", examples=["resume"])
    due_at: datetime = Field(description="Its time by the schedule.", examples=["2026-05-04T06:00:00Z"])
    waits_for: ScheduleWaitsFor | None = Field(description=_WAITS_FOR, examples=["capacity_exhausted"])
    detail: str | None = Field(
        description="The same in a sentence.", examples=["The region has no 4 free machines that are joined by links."]
    )
    retry_at: datetime | None = Field(
        description="When it is tried again; null: as soon as possible.", examples=["2026-05-04T06:05:00Z"]
    )
    operation: UUID | None = Field(description="The operation that it began.", examples=[None])


class ClusterScheduleOut(Answer):
    """When a cluster is in use, and what its schedule does next."""

    time_zone: str = Field(description="Name of an IANA time zone.", examples=["Europe/Luxembourg"])
    periods: list[UsePeriod] = Field(description="When the cluster is in use.")
    holidays: list[date] = Field(description="Dates on which no period begins.", examples=[["2026-12-25"]])
    next_action: Literal["suspend", "resume"] | None = Field(
        description="What it does next, computed from the calendar; null: nothing, for more than two years.",
        examples=["suspend"],
    )
    next_at: datetime | None = Field(description="When it does that.", examples=["2026-05-04T18:00:00Z"])
    due: DueActionOut | None = Field(description="What is to be done now and is not done; null: nothing.")
