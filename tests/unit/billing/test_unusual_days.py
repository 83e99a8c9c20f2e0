"""Which days are named as unusual, by the documented rule."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from ipucloud.billing.reports.unusual import unusual

DAY = timedelta(days=1)
MONDAY = date(2026, 6, 29)
WORKDAYS = {MONDAY - DAY * back: Decimal(100) for back in range(57) if (MONDAY - DAY * back).weekday() < 5}
"""Eight weeks and the Monday after them, at 100 a day from Monday to Friday."""


def judged(costs: dict[date, Decimal], day: date = MONDAY) -> list[tuple[Decimal, Decimal]]:
    return [(each.cost, each.usual) for each in unusual(costs, [day])]


def test_a_day_is_compared_with_its_weekday() -> None:
    assert judged(WORKDAYS) == []
    assert judged(WORKDAYS | {MONDAY: Decimal("125.00")}) == []  # a quarter more, and not more than that
    assert judged(WORKDAYS | {MONDAY: Decimal("125.01")}) == [(Decimal("125.01"), Decimal(100))]
    assert judged({day: cost for day, cost in WORKDAYS.items() if day != MONDAY}) == [(Decimal(0), Decimal(100))]
    sunday = MONDAY - DAY
    assert judged(WORKDAYS, sunday) == []
    mean_tenth = Decimal(4000) / Decimal(55) / 10  # of the 55 days since the Monday that the charges begin with
    assert judged(WORKDAYS | {sunday: mean_tenth - 1}, sunday) == []
    assert judged(WORKDAYS | {sunday: mean_tenth + 1}, sunday) == [(mean_tenth + 1, Decimal(0))]


def test_what_is_usual_has_a_spread_and_forgives_one_exception() -> None:
    mondays = {MONDAY - DAY * 7 * week: Decimal(100) for week in range(9)}
    once = mondays | {MONDAY - DAY * 14: Decimal(900)}
    assert judged(once | {MONDAY: Decimal(200)}) == [(Decimal(200), Decimal(100))]
    varied = {day: cost + (40 if week % 2 else -40) for week, (day, cost) in enumerate(mondays.items())}
    assert judged(varied | {MONDAY: Decimal(220)}) == []  # three times 40 above
    assert judged(varied | {MONDAY: Decimal(221)}) == [(Decimal(221), Decimal(100))]


def test_what_is_new_has_no_habit_yet() -> None:
    for weeks, named in ((3, 0), (4, 1)):
        costs = {MONDAY - DAY * back: Decimal(5) for back in range(1, 7 * weeks + 1)} | {MONDAY: Decimal(500)}
        assert len(judged(costs)) == named


@given(st.lists(st.decimals(0, 1000, places=4), min_size=57, max_size=57), st.integers(2, 10**6))
def test_no_currency_and_no_size_decides(costs: list[Decimal], factor: int) -> None:
    days = {MONDAY - DAY * back: cost for back, cost in enumerate(costs)}
    larger = {day: cost * factor for day, cost in days.items()}
    assert judged(larger) == [(cost * factor, usual * factor) for cost, usual in judged(days)]
