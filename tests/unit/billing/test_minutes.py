"""Minutes of a life: ceil(lifetime), telescoping, UTC and whole seconds only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.billing.metering.minutes import minutes_before, minutes_between, utc_second

EPOCH = datetime(2020, 1, 1, tzinfo=UTC)
instants = st.timedeltas(timedelta(0), timedelta(days=15 * 365)).map(lambda elapsed: EPOCH + elapsed)
zones = st.sampled_from(["UTC", "Europe/Luxembourg", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"])


@given(instants, st.integers(0, 10_000_000))
def test_a_lifetime_holds_its_length_in_minutes_rounded_up(start: datetime, seconds: int) -> None:
    end = utc_second(start) + timedelta(seconds=seconds)
    assert minutes_between(start, start, end) == -(-seconds // 60)


@given(instants, st.lists(st.integers(-86_400, 30 * 86_400), min_size=2, max_size=40))
def test_any_cuts_of_a_lifetime_hold_its_minutes(start: datetime, offsets: list[int]) -> None:
    cuts = [start + timedelta(seconds=offset) for offset in sorted(offsets)]
    slices = pairwise(cuts)
    assert sum(minutes_between(start, *part) for part in slices) == minutes_between(start, cuts[0], cuts[-1])


@given(instants, instants, zones)
def test_the_zone_in_which_an_instant_is_written_changes_nothing(a: datetime, b: datetime, zone: str) -> None:
    start, end = sorted((a, b))
    local = ZoneInfo(zone)
    there = minutes_between(start.astimezone(local), start.astimezone(local), end.astimezone(local))
    assert there == minutes_between(start, start, end)


def test_the_hour_that_daylight_saving_repeats_is_billed_twice() -> None:
    luxembourg = ZoneInfo("Europe/Luxembourg")
    start = datetime(2026, 10, 25, 2, 30, tzinfo=luxembourg, fold=0)
    end = datetime(2026, 10, 25, 2, 30, tzinfo=luxembourg, fold=1)
    assert minutes_between(start, start, end) == 60


def test_fractions_of_a_second_are_dropped() -> None:
    start = datetime(2026, 5, 1, 10, 0, 0, 999_999, tzinfo=UTC)
    assert minutes_before(start, datetime(2026, 5, 1, 10, 1, 0, 900_000, tzinfo=UTC)) == 1
    assert minutes_before(start, datetime(2026, 5, 1, 10, 0, 0, 999_999, tzinfo=UTC)) == 0


def test_nothing_before_the_start_and_nothing_backwards() -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    assert minutes_before(start, start - timedelta(days=1)) == 0
    assert minutes_between(start, start + timedelta(hours=2), start + timedelta(hours=1)) == 0


def test_a_leap_day_is_a_day() -> None:
    start = datetime(2028, 2, 29, 12, 0, 7, tzinfo=UTC)
    march = datetime(2028, 3, 1, tzinfo=UTC)
    assert minutes_between(start, march, march + timedelta(days=31)) == 31 * 1440
    assert minutes_between(start, start, march) == 12 * 60


def test_an_instant_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        utc_second(datetime.fromisoformat("2026-05-01T10:00:00"))
