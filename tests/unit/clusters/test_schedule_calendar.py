"""When schedules resume and suspend: across midnight, holidays, and when the clocks change."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from ipucloud.clusters.schedules.calendar import local_instant, moments, next_moment
from ipucloud.contract.schedules import ClusterSchedule, Weekday

WORK = ["mon", "tue", "wed", "thu", "fri"]
SOUND: dict[str, Any] = {
    "time_zone": "Europe/Luxembourg",
    "periods": [{"days": WORK, "starts_at": "08:00", "ends_at": "20:00"}],
}
ZONES = ("Europe/Luxembourg", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "UTC")
SINCE = st.integers(0, 275 * 1440).map(lambda minutes: datetime(2026, 3, 1, tzinfo=UTC) + timedelta(minutes=minutes))


def schedule(**changes: object) -> ClusterSchedule:
    return ClusterSchedule.model_validate(SOUND | changes)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def shown(calendar: ClusterSchedule, after: str, number: int = 2) -> list[str]:
    return [f"{each.action} {each.at:%a %d %H:%M}" for each in islice(moments(calendar, at(after)), number)]


@pytest.mark.parametrize(
    ("changes", "after", "expected"),
    [
        ({}, "2026-05-04T05:59", ["resume Mon 04 06:00", "suspend Mon 04 18:00"]),
        ({}, "2026-05-04T06:00", ["suspend Mon 04 18:00", "resume Tue 05 06:00"]),
        ({}, "2026-05-08T18:00", ["resume Mon 11 06:00", "suspend Mon 11 18:00"]),
        ({"holidays": ["2026-05-14"]}, "2026-05-13T18:00", ["resume Fri 15 06:00", "suspend Fri 15 18:00"]),
        # West and east of UTC, where it is another day.
        ({"time_zone": "Pacific/Kiritimati"}, "2026-05-03T10:00", ["resume Sun 03 18:00", "suspend Mon 04 06:00"]),
        ({"time_zone": "Pacific/Honolulu"}, "2026-05-09T10:00", ["resume Mon 11 18:00", "suspend Tue 12 06:00"]),
    ],
)
def test_a_working_week(changes: dict[str, object], after: str, expected: list[str]) -> None:
    assert shown(schedule(**changes), after) == expected


def test_a_night_belongs_to_the_day_on_which_it_begins() -> None:
    nights = schedule(periods=[{"days": ["fri", "sat"], "starts_at": "22:00", "ends_at": "06:00"}])
    assert shown(nights, "2026-05-08T12:00", 4) == [
        *("resume Fri 08 20:00", "suspend Sat 09 04:00"),
        *("resume Sat 09 20:00", "suspend Sun 10 04:00"),
    ]
    without = nights.model_copy(update={"holidays": [date(2026, 5, 9)]})
    assert shown(without, "2026-05-08T12:00", 3) == [
        "resume Fri 08 20:00",
        "suspend Sat 09 04:00",
        "resume Fri 15 20:00",
    ]


def test_periods_that_adjoin_are_one() -> None:
    days = [{"days": ["mon", "tue"], "starts_at": "00:00", "ends_at": "24:00"}]
    morning = {"days": ["wed"], "starts_at": "00:00", "ends_at": "12:00"}
    assert shown(schedule(periods=[*days, morning]), "2026-05-03T12:00") == [
        "resume Sun 03 22:00",
        "suspend Wed 06 10:00",
    ]


def test_always_but_on_holidays() -> None:
    always = [{"days": list(Weekday), "starts_at": "00:00", "ends_at": "24:00"}]
    christmas = schedule(periods=always, holidays=["2026-12-26", "2026-12-25"])
    assert shown(christmas, "2026-05-03T12:00") == ["suspend Thu 24 23:00", "resume Sat 26 23:00"]
    assert next_moment(christmas, at("2027-01-01T00:00")) is None


@pytest.mark.parametrize(
    ("starts", "ends", "after", "expected"),
    [
        # 29 March: from 02:00 to 03:00 nothing is shown. 25 October: it is shown twice.
        ("02:30", "05:00", "2026-03-28T12:00", ["resume Sun 29 01:00", "suspend Sun 29 03:00"]),
        ("01:00", "02:30", "2026-03-28T12:00", ["resume Sun 29 00:00", "suspend Sun 29 01:00"]),
        ("02:30", "03:15", "2026-03-28T12:00", ["resume Sun 29 01:00", "suspend Sun 29 01:15"]),
        ("02:15", "02:45", "2026-03-28T12:00", ["resume Sun 05 00:15", "suspend Sun 05 00:45"]),  # skipped as a whole
        ("02:30", "05:00", "2026-10-24T12:00", ["resume Sun 25 00:30", "suspend Sun 25 04:00"]),
        ("01:00", "02:30", "2026-10-24T12:00", ["resume Sat 24 23:00", "suspend Sun 25 00:30"]),
    ],
)
def test_when_the_clocks_change(starts: str, ends: str, after: str, expected: list[str]) -> None:
    sundays = schedule(periods=[{"days": ["sun"], "starts_at": starts, "ends_at": ends}])
    assert shown(sundays, after) == expected


@given(
    zone=st.sampled_from(ZONES),
    day=st.dates(date(2011, 1, 1), date(2040, 12, 31)),
    minutes=st.lists(st.integers(0, 2880), min_size=2, max_size=8),
)
def test_a_later_time_of_the_clock_is_never_an_earlier_instant(zone: str, day: date, minutes: list[int]) -> None:
    instants = [local_instant(day, each, ZoneInfo(zone)) for each in sorted(minutes)]
    assert instants == sorted(instants)


@given(zone=st.sampled_from(ZONES), day=st.dates(date(2011, 1, 1), date(2040, 12, 31)), minute=st.integers(0, 1439))
def test_a_time_is_when_the_clock_shows_it_or_skips_it(zone: str, day: date, minute: int) -> None:
    """And the first time, of several."""
    there = ZoneInfo(zone)
    instant = local_instant(day, minute, there)
    on_clock = datetime.combine(day, datetime.min.time()) + timedelta(minutes=minute)
    clock, before = (each.astimezone(there).replace(tzinfo=None) for each in (instant, instant - timedelta(seconds=1)))
    if clock == on_clock:
        again = (instant - timedelta(minutes=each) for each in range(30, 24 * 60 + 1, 30))
        assert all(each.astimezone(there).replace(tzinfo=None) != on_clock for each in again)
    else:
        assert before < on_clock < clock


@st.composite
def calendars(draw: st.DrawFn) -> ClusterSchedule:
    times = st.builds("{:02}:{:02}".format, st.integers(0, 23), st.sampled_from((0, 15, 30, 45)))
    days = st.lists(st.sampled_from(list(Weekday)), min_size=1, max_size=7, unique=True)
    period = st.fixed_dictionaries({"days": days, "starts_at": times, "ends_at": times})
    try:
        return ClusterSchedule.model_validate(
            {
                "time_zone": draw(st.sampled_from(ZONES)),
                "periods": draw(st.lists(period, min_size=1, max_size=3)),
                "holidays": draw(st.lists(st.dates(date(2026, 3, 1), date(2026, 5, 1)), max_size=5, unique=True)),
            }
        )
    except ValidationError:
        assume(False)
        raise


@given(calendar=calendars(), since=SINCE)
def test_moments_alternate_in_order_whenever_one_looks(calendar: ClusterSchedule, since: datetime) -> None:
    upcoming = [*islice(moments(calendar, since), 12)]
    assert all(moment.at > since for moment in upcoming)
    for earlier, later in pairwise(upcoming):
        assert earlier.at < later.at
        assert earlier.action != later.action
        assert next_moment(calendar, earlier.at) == later
        assert next_moment(calendar, later.at - timedelta(microseconds=1)) == later


@given(calendar=calendars(), since=SINCE)
def test_what_the_moments_say_is_what_the_calendar_shows(calendar: ClusterSchedule, since: datetime) -> None:
    """In use between a resume and the suspend after it, as a person reads it from a wall clock, away from changes."""
    zone, following = ZoneInfo(calendar.time_zone), next_moment(calendar, since)
    if following is None:
        return
    middle = since + (following.at - since) / 2
    offsets = {(middle + timedelta(hours=each)).astimezone(zone).utcoffset() for each in range(-30, 31, 3)}
    assume(len(offsets) == 1)
    clock = middle.astimezone(zone)
    in_use = False
    for back in (0, 1):
        day = (clock - timedelta(days=back)).date()
        minute = (clock.hour * 60 + clock.minute) + 1440 * back
        for period in calendar.periods:
            starts, ends = period.minutes
            runs = list(Weekday)[day.weekday()] in period.days and day not in calendar.holidays
            in_use |= runs and starts <= minute < ends
    assert in_use == (following.action == "suspend")


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"periods": []}, "too_short"),
        ({"periods": [{"days": [], "starts_at": "08:00", "ends_at": "20:00"}]}, "too_short"),
        ({"time_zone": "Europe/Esch"}, "unknown_time_zone"),
        ({"time_zone": "../UTC"}, "unknown_time_zone"),
        ({"holidays": ["2026-02-30"]}, "date_from_datetime_parsing"),
        ({"holidays": [20261225]}, "date_form"),
        ({"holidays": ["2026-12-25", "2026-12-25"]}, "repeated_day"),
        ({"periods": [{"days": ["mon"], "starts_at": "24:00", "ends_at": "08:00"}]}, "string_pattern_mismatch"),
        (
            {"periods": [*SOUND["periods"], {"days": ["fri"], "starts_at": "19:59", "ends_at": "21:00"}]},
            "overlapping_periods",
        ),
        # Sunday's night reaches into Monday's morning.
        (
            {
                "periods": [
                    {"days": ["mon"], "starts_at": "05:00", "ends_at": "07:00"},
                    {"days": ["sun"], "starts_at": "22:00", "ends_at": "06:00"},
                ]
            },
            "overlapping_periods",
        ),
        ({"periods": [{"days": list(Weekday), "starts_at": "06:00", "ends_at": "06:00"}]}, "never_suspends"),
    ],
)
def test_a_schedule_that_nobody_can_follow_is_refused(wrong: dict[str, object], code: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        schedule(**wrong)
    assert [error["type"] for error in refusal.value.errors()] == [code]


def test_a_time_zone_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(ValidationError, match="Europe/Luxembourg"):
        schedule(time_zone="Europe/Luxemburg")
