"""The draft of a month reads days that are rolled up from the roll-up: its lines are those of the charges."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest

from ipucloud.billing.invoices.lines import Bill, Line, drafted_lines, lines_of_many
from ipucloud.billing.reports.rollup import roll_up
from tests.feature.billing.books import Books, at
from tests.feature.billing.invoices.customers import SEALED, taxed
from tests.support.factories import make_project

pytestmark = pytest.mark.anyio

MAY = date(2026, 5, 1)
NOW = at("2026-05-05T09:30:00")


async def drafted(books: Books, currency: str = "EUR") -> Sequence[Line]:
    async with books.database.read() as connection:
        return await drafted_lines(connection, Bill(books.project.id, currency, MAY))


async def charged(books: Books) -> Sequence[Line]:
    [(_, lines)] = [bill async for bill in lines_of_many(books.database, MAY, [books.project.id])]
    return lines


async def furnished(books: Books) -> None:
    """A sealed April, and a May with two projects, two prices on one day, two tax rates and late usage of April."""
    books.now(at("2026-04-28T00:00:00"))
    await books.price("0.0625", valid_to=at("2026-05-03T08:30:30"))
    await books.price("0.0710", at("2026-05-03T08:30:30"))
    await taxed(books)
    await taxed(books, "0.20", since=date(2026, 5, 4))
    async with books.database.begin() as connection:
        other = await make_project(connection, quota=None)
    first, second, third, late = [await books.make_cluster(each) for each in (None, None, other, None)]
    await books.execute(
        "INSERT INTO project_accounts (project_id, account_id, valid_from)"
        " VALUES (:project, :payer, '2026-05-02T12:00:00Z')",
        project=other.id,
        payer=books.project.id,
    )
    await books.used(first, at("2026-04-30T20:12:13"), at("2026-05-03T11:00:01"), quantity=4)
    await books.keep(SEALED)
    assert await books.rows("SELECT 1 FROM billing_months WHERE month = '2026-04-01' AND sealed_at IS NOT NULL")
    await books.used(second, at("2026-05-03T21:00:00"), at("2026-05-04T03:00:30"), quantity=2)
    await books.used(third, at("2026-05-02T09:00:00"), at("2026-05-02T15:10:00"), quantity=3, project=other)
    await books.used(late, at("2026-04-30T10:00:00"), at("2026-04-30T11:30:00"))
    await books.used(second, at("2026-05-05T08:00:00"), quantity=2)
    await books.keep(NOW)


async def test_its_lines_are_those_of_the_charges_however_many_days_are_rolled_up(books: Books) -> None:
    await furnished(books)
    wanted = await charged(books)
    assert {line.usage_month for line in wanted} == {date(2026, 4, 1), MAY}
    assert {line.unit_price for line in wanted if line.usage_month == MAY} == {Decimal("0.0625"), Decimal("0.0710")}
    assert len({line.since for line in wanted if line.usage_month == MAY}) == 2, "two tax rates"
    assert len({line.project_id for line in wanted}) == 2
    assert await books.rows("SELECT 1 FROM day_rollups WHERE hours = 24 AND day = '2026-05-03'")
    assert await drafted(books) == wanted
    for stale in (date(2026, 5, 2), date(2026, 5, 3), date(2026, 5, 4)):
        await books.execute("UPDATE day_rollups SET hours = -1 WHERE day = :day", day=stale)
        assert await drafted(books) == wanted, stale
    await books.execute("UPDATE day_rollups SET hours = -1")
    assert await drafted(books) == wanted
    await roll_up(books.database, date(2026, 4, 30))  # a correction's day, of a month before
    assert await drafted(books) == wanted
    assert await drafted(books, "USD") == []

    await roll_up(books.database, date(2026, 5, 1))
    await books.execute("DELETE FROM usage_days WHERE day = '2026-05-01'")
    lacking = sum(line.machine_minutes for line in wanted) - sum(line.machine_minutes for line in await drafted(books))
    assert lacking == 24 * 60 * 4, "a day that is rolled up is not read from its charges, too"
