"""Schedules under a clock that the test sets: each month is asked for once, sealed and billed, whatever stood still."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.exports.schedules import add_schedule, serve_schedules
from ipucloud.billing.exports.series import freeze_names
from ipucloud.billing.invoices.issue import issue_invoices
from ipucloud.billing.ledger.months import open_months
from ipucloud.billing.ledger.transfers import Posted, post_usage
from ipucloud.contract.exports import ExportScheduleCreate
from ipucloud.identity.members import Home
from tests.feature.billing.world import BillingWorld, at
from tests.support.exports import some_connection
from tests.support.invoices import add_tax_rate, charge

pytestmark = pytest.mark.anyio

_OVER = """
SELECT month FROM billing_months
 WHERE sealed_at IS NULL AND (month + interval '1 month 1 day') AT TIME ZONE 'UTC' <= app_now() ORDER BY month
"""


async def planned(billing: BillingWorld, every: str, *, provisional: bool = False) -> None:
    """A schedule of the project."""
    async with billing.database.begin() as connection:
        lake: UUID = await some_connection(connection, billing.project.id, "lake")
        plan = ExportScheduleCreate.model_validate({"connection": lake, "every": every, "provisional": provisional})
        await add_schedule(connection, Home(billing.project.id, None), plan)


async def served(billing: BillingWorld, instant: str, turns: int = 1) -> Sequence[str]:
    """The months that were asked for by two workers at that instant, in as many turns."""
    billing.now(at(instant))
    before = await billing.rows("SELECT id FROM exports")
    for _ in range(turns):
        await asyncio.gather(serve_schedules(billing.database), serve_schedules(billing.database))
    rows = await billing.rows(
        "SELECT to_char(month, 'YYYY-MM') FROM exports WHERE id <> ALL(:before) ORDER BY scheduled_for",
        before=[row.id for row in before],
    )
    return [month for (month,) in rows]


async def kept(billing: BillingWorld, instant: str) -> None:
    """Seal and bill every month that is over by then, as workers that keep the books do."""
    billing.now(at(instant))
    await open_months(billing.database)
    for (month,) in await billing.rows(_OVER):
        await billing.execute("SELECT seal_billing_month(:month)", month=month)
    await freeze_names(billing.database)
    await issue_invoices(billing.database)


async def furnish(billing: BillingWorld) -> None:
    """One charge in each of five months; no rate of tax."""
    hours = [at(f"2026-{month:02}-28T10:00:00") for month in range(1, 6)]
    async with billing.database.begin() as connection:
        for hour in hours:
            await charge(connection, billing.project.id, account_id=billing.project.id, hour=hour)
            await post_usage(connection, hour, 0, [Posted(billing.project.id, "EUR", Decimal("15.00"), 1)])
    await billing.execute("UPDATE hour_closes SET verified_at = app_now()")


async def taxed(billing: BillingWorld) -> None:
    async with billing.database.begin() as connection:
        await add_tax_rate(connection)


async def test_each_month_is_delivered_once_when_it_is_sealed_and_billed(billing: BillingWorld) -> None:
    await furnish(billing)
    await taxed(billing)
    billing.now(at("2026-01-15T12:00:00"))
    await planned(billing, "month")
    await kept(billing, "2026-02-02T00:01:00")
    assert await served(billing, "2026-02-02T23:59:59") == []
    assert await served(billing, "2026-02-03T00:00:00") == ["2026-01"]
    assert await served(billing, "2026-02-28T12:00:00", turns=2) == []
    # Nobody keeps the books: February is not sealed on its day, and is delivered as soon as it is.
    assert await served(billing, "2026-03-03T00:00:00", turns=2) == []
    await kept(billing, "2026-03-05T05:00:00")
    assert await served(billing, "2026-03-05T05:00:30", turns=2) == ["2026-02"]
    await kept(billing, "2026-04-02T00:01:00")
    assert await served(billing, "2026-04-02T23:59:59") == []
    assert await served(billing, "2026-04-03T00:00:00", turns=2) == ["2026-03"]


async def test_after_a_down_time_no_month_is_left_out_and_none_comes_twice(billing: BillingWorld) -> None:
    await furnish(billing)
    await taxed(billing)
    billing.now(at("2026-01-15T12:00:00"))
    await open_months(billing.database)
    await planned(billing, "month")
    # Down until May. Before the books are kept, nothing is known of the months between.
    assert await served(billing, "2026-05-10T12:00:00", turns=2) == []
    await kept(billing, "2026-05-10T12:00:00")
    assert await served(billing, "2026-05-10T12:01:00", turns=5) == ["2026-01", "2026-02", "2026-03", "2026-04"]
    assert await served(billing, "2026-06-01T12:00:00", turns=2) == []
    await kept(billing, "2026-06-03T12:00:00")
    assert await served(billing, "2026-06-03T12:00:00", turns=2) == ["2026-05"]


async def test_a_daily_schedule_leaves_no_month_unfinished(billing: BillingWorld) -> None:
    billing.now(at("2026-01-29T12:00:00"))
    await planned(billing, "day")
    assert await served(billing, "2026-01-30T01:00:00", turns=2) == ["2026-01"]
    assert await served(billing, "2026-01-31T01:00:00", turns=2) == ["2026-01"]
    assert await served(billing, "2026-02-01T01:00:00", turns=2) == ["2026-01"], "the last day of the month too"
    assert await served(billing, "2026-02-02T01:00:00", turns=2) == ["2026-02"]
    # Down until May: one file of each month that was over meanwhile, then of the running one.
    assert await served(billing, "2026-05-10T12:00:00", turns=6) == ["2026-02", "2026-03", "2026-04"]
    assert await served(billing, "2026-05-11T01:00:00", turns=2) == ["2026-05"]


async def test_an_hourly_schedule_leaves_no_day_unfinished(billing: BillingWorld) -> None:
    async def days(instant: str, turns: int = 2) -> list[str]:
        """Days of the exports that are created then."""
        before = [row.id for row in await billing.rows("SELECT id FROM exports")]
        await served(billing, instant, turns=turns)
        rows = await billing.rows(
            "SELECT since, until, provisional FROM exports WHERE id <> ALL(:before) ORDER BY scheduled_for",
            before=before,
        )
        assert all(row.until - row.since == timedelta(days=1) and row.provisional for row in rows)
        return [f"{row.since:%d}" for row in rows]

    billing.now(at("2026-01-29T21:30:00"))
    await planned(billing, "hour", provisional=True)
    assert await days("2026-01-29T22:04:59") == []
    assert await days("2026-01-29T22:05:00") == ["29"]
    assert await days("2026-01-29T23:05:30") == ["29"]
    assert await days("2026-01-30T00:05:00") == ["29"], "the last hour of the day too"
    assert await days("2026-01-30T01:05:00") == ["30"]
    # Down for days: one file of each day that was over meanwhile, then of the running one.
    assert await days("2026-02-02T12:10:00", turns=9) == ["30", "31", "01"]
    assert await days("2026-02-02T13:05:00") == ["02"]
    await billing.used(await billing.make_cluster(), at("2026-02-02T13:10:00"))
    assert await days("2026-02-02T14:05:00") == [], "the hour is not closed"
    await billing.execute(
        "INSERT INTO hour_closes (hour, closed_at, charges) VALUES ('2026-02-02T13:00:00Z', app_now(), 1)"
    )
    assert await days("2026-02-02T14:06:00") == ["02"]


async def test_the_last_daily_file_of_a_month_has_all_its_hours(billing: BillingWorld) -> None:
    billing.now(at("2026-01-30T12:00:00"))
    await planned(billing, "day")
    await billing.used(await billing.make_cluster(), at("2026-01-31T22:30:00"))
    assert await served(billing, "2026-01-31T01:00:00", turns=2) == ["2026-01"]
    assert await served(billing, "2026-02-01T01:00:00", turns=2) == []
    await billing.execute(
        "INSERT INTO hour_closes (hour, closed_at, charges) VALUES ('2026-01-31T22:00:00Z', app_now(), 1)"
    )
    assert await served(billing, "2026-02-01T01:01:00", turns=2) == []
    await billing.execute(
        "INSERT INTO hour_closes (hour, closed_at, charges) VALUES ('2026-01-31T23:00:00Z', app_now(), 1)"
    )
    assert await served(billing, "2026-02-01T01:02:00", turns=2) == ["2026-01"]
    assert await served(billing, "2026-02-02T01:00:00", turns=2) == ["2026-02"]


async def test_a_month_without_an_invoice_waits_for_it(billing: BillingWorld) -> None:
    await furnish(billing)
    billing.now(at("2026-01-15T12:00:00"))
    await planned(billing, "month")
    await kept(billing, "2026-02-02T00:01:00")
    assert await served(billing, "2026-02-03T00:00:00", turns=2) == []
    await taxed(billing)
    await kept(billing, "2026-02-03T00:01:00")
    assert await served(billing, "2026-02-03T00:02:00", turns=2) == ["2026-01"]
