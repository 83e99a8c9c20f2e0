"""Days that cost far more or less than their weekday usually does.

The rule: a day is compared with the same weekday of the eight weeks before it, of which at least four must be after the
first day with a charge. Usual is their median. The day is unusual if it differs from that by more than each of

- three times the median difference of those weekdays from their median,
- a quarter of the usual cost,
- a tenth of the mean day since the first charge, of the 56 days before.

Medians, because one exceptional day must not change what is usual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.reports.report import Group, report
from ipucloud.contract.reports import UnusualDayOut
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money, product, total

WEEKS = 8
ENOUGH = 4
"""Weeks that make a habit."""
_DAY = timedelta(days=1)
_HISTORY = WEEKS * 7 * _DAY
_ZERO = Decimal(0)


class UnusualDay(NamedTuple):
    """What a day cost, and what its weekday usually costs."""

    day: date
    cost: Decimal
    usual: Decimal


def unusual(costs: Mapping[date, Decimal], days: Sequence[date]) -> Iterator[UnusualDay]:
    """Those of the days that the rule names; a day that is not in `costs` cost nothing."""
    for day in days:
        before = [day - _DAY * back for back in range(1, WEEKS * 7 + 1)]
        first = min((each for each in before if each in costs), default=day)
        same = [costs.get(each, _ZERO) for each in before if each >= first and each.weekday() == day.weekday()]
        if len(same) < ENOUGH:
            continue
        cost, usual_cost = costs.get(day, _ZERO), median(same)
        difference = abs(cost - usual_cost)
        spread = median(abs(each - usual_cost) for each in same)
        mean_of = total(costs.get(each, _ZERO) for each in before)
        if (
            difference > product(spread, 3)
            and product(difference, 4) > usual_cost
            and product(difference, 10, (day - first).days) > mean_of
        ):
            yield UnusualDay(day, cost, usual_cost)


async def unusual_days(
    connection: Statements,
    *,
    since: datetime,
    until: datetime,
    currency: str,
    project_id: UUID | None = None,
    account_id: UUID | None = None,
) -> list[UnusualDayOut]:
    """Unusual days of a project or an account from `since` on, of those that end by `until`, both in UTC.

    Judged is what is posted: `until` is not after the end of the last closed hour.
    """
    days = _whole_days(since, until)
    if not days:
        return []
    of = {"project_id": project_id, "account_id": account_id}
    by_day = await report(
        connection, groups=[Group.DAY], since=since - _HISTORY, until=_midnight(days[-1] + _DAY), **of
    )
    costs = {
        date.fromisoformat(row.group["day"] or ""): row.cost.amount
        for row in by_day.rows
        if row.cost.currency == currency
    }
    return [
        UnusualDayOut(
            day=day,
            cost=Money.of(cost, currency),
            usual=Money.of(usual_cost, currency),
            difference=Money.of(cost - usual_cost, currency),
        )
        for day, cost, usual_cost in unusual(costs, days)
    ]


def _whole_days(since: datetime, until: datetime) -> list[date]:
    first = since.astimezone(UTC).date()
    return [first + _DAY * number for number in range((until - since).days)]


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
