"""Days of the week and time zones, as requests write them."""

from __future__ import annotations

from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Annotated
from zoneinfo import available_timezones

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError


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


def _distinct(days: list[Weekday]) -> list[Weekday]:
    if len(set(days)) < len(days):
        raise PydanticCustomError("repeated_day", "Name each day once")
    return sorted(days, key=list(Weekday).index)


Days = Annotated[
    list[Annotated[Weekday, Field(strict=False)]], AfterValidator(_distinct), Field(min_length=1, max_length=7)
]
TimeZone = Annotated[
    str,
    AfterValidator(_known),
    Field(max_length=64, description="Name of an IANA time zone.", examples=["Europe/Luxembourg"]),
]
