"""The draft of a month reads days that are rolled up from the roll-up: its lines are those of the charges."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from ipucloud.billing.invoices.lines import Bill, Line, drafted_lines, lines_of_many
from ipucloud.billing.reports.rollup import roll_up
from tests.feature.billing.invoices.customers import SEALED, taxed, transact
from tests.feature.billing.world import BillingWorld, at
from tests.support.factories import make_project

pytestmark = pytest.mark.anyio

MAY = date(2026, 5, 1)
NOW = at("2026-05-05T09:30:00")


async def drafted(billing: BillingWorld, currency: str = "EUR") -> Sequence[Line]:
    async with billing.database.read() as connection:
        return await drafted_lines(connection, Bill(billing.project.id, currency, MAY))


async def charged(billing: BillingWorld) -> Sequence[Line]:
    [(_, lines)] = [bill async for bill in lines_of_many(billing.database, MAY, [billing.project.id])]
    return lines


async def furnished(billing: BillingWorld) -> None:
    """A sealed April, and a May with two projects, two prices on one day, two tax rates and late usage of April."""
    billing.now(at("2026-04-28T00:00:00"))
    await billing.price("0.0625", valid_to=at("2026-05-03T08:30:30"))
    await billing.price("0.0710", at("2026-05-03T08:30:30"))
    await taxed(billing)
    await taxed(billing, "0.20", since=date(2026, 5, 4))
    other = await transact(billing, make_project)
    first, second, third, late = [await billing.make_cluster(each) for each in (None, None, other, None)]
    await billing.pays(billing.project.id, at("2026-05-02T12:00:00"), other)
    await billing.used(first, at("2026-04-30T20:12:13"), at("2026-05-03T11:00:01"), quantity=4)
    await billing.keep(SEALED)
    assert await billing.rows("SELECT 1 FROM billing_months WHERE month = '2026-04-01' AND sealed_at IS NOT NULL")
    await billing.used(second, at("2026-05-03T21:00:00"), at("2026-05-04T03:00:30"), quantity=2)
    await billing.used(third, at("2026-05-02T09:00:00"), at("2026-05-02T15:10:00"), quantity=3, project=other)
    await billing.used(late, at("2026-04-30T10:00:00"), at("2026-04-30T11:30:00"))
    await billing.used(second, at("2026-05-05T08:00:00"), quantity=2)
    await billing.keep(NOW)


async def test_its_lines_are_those_of_the_charges_however_many_days_are_rolled_up(billing: BillingWorld) -> None:
    await furnished(billing)
    expected = await charged(billing)
    assert {line.usage_month for line in expected} == {date(2026, 4, 1), MAY}
    assert {line.unit_price for line in expected if line.usage_month == MAY} == {Decimal("0.0625"), Decimal("0.0710")}
    assert len({line.since for line in expected if line.usage_month == MAY}) == 2, "two tax rates"
    assert len({line.project_id for line in expected}) == 2
    assert await billing.rows("SELECT 1 FROM day_rollups WHERE hours = 24 AND day = '2026-05-03'")
    assert await drafted(billing) == expected
    for stale in (date(2026, 5, 2), date(2026, 5, 3), date(2026, 5, 4)):
        await billing.execute("UPDATE day_rollups SET hours = -1 WHERE day = :day", day=stale)
        assert await drafted(billing) == expected, stale
    await billing.execute("UPDATE day_rollups SET hours = -1")
    assert await drafted(billing) == expected
    await roll_up(billing.database, date(2026, 4, 30))  # a correction's day, of a month before
    assert await drafted(billing) == expected
    assert await drafted(billing, "USD") == []

    await roll_up(billing.database, date(2026, 5, 1))
    await billing.execute("DELETE FROM usage_days WHERE day = '2026-05-01'")
    of_all, of_rest = (sum(line.machine_minutes for line in lines) for lines in (expected, await drafted(billing)))
    assert of_all - of_rest == 24 * 60 * 4, "a day that is rolled up is not read from its charges, too"
