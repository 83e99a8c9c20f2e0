"""Periods of the bill: runs of days, cut at the ends of months."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.billing.exports.selection import Period, month_of
from ipucloud.contract.exports import MAX_DAYS

days = st.dates(date(2000, 1, 1), date(2099, 1, 1))


@given(days, st.integers(1, MAX_DAYS))
def test_months_hold_each_day_of_a_period_once(since: date, length: int) -> None:
    period = Period(since, since + timedelta(days=length))
    parts = period.by_month()
    assert [part.since for part in parts] == [period.since, *(part.until for part in parts[:-1])]
    assert parts[-1].until == period.until
    for part in parts:
        month = month_of(part.since)
        assert month.since <= part.since < part.until <= month.until


@pytest.mark.parametrize(
    ("since", "until", "called"),
    [
        (date(2024, 2, 1), date(2024, 3, 1), "2024-02"),
        (date(2023, 12, 1), date(2024, 1, 1), "2023-12"),
        (date(2024, 2, 1), date(2024, 2, 29), "2024-02-01--2024-02-29"),
        (date(2024, 2, 1), date(2024, 4, 1), "2024-02-01--2024-04-01"),
    ],
)
def test_a_calendar_month_is_called_so(since: date, until: date, called: str) -> None:
    assert str(Period(since, until)) == called


@pytest.mark.parametrize("length", [-1, 0, MAX_DAYS + 1])
def test_a_period_has_days_and_not_too_many(length: int) -> None:
    with pytest.raises(ValueError, match="1 to 366 days"):
        Period(date(2026, 1, 1), date(2026, 1, 1) + timedelta(days=length))
