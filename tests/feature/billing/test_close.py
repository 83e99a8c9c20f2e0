"""Closing hours: the worked examples, which price a minute takes, who pays, and what came late."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest
import sqlalchemy as sa

from ipucloud.billing.accounts.store import assign, create
from ipucloud.billing.ledger.close import close_hour, correct_hour, due_hours, hours_to_correct, post_hour
from ipucloud.billing.ledger.months import open_months
from tests.feature.billing.world import BillingWorld, at
from tests.support.factories import make_project

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)
BY_MONTH = "SELECT billing_month::text, sum(minutes), sum(cost) FROM usage_charges GROUP BY 1 ORDER BY 1"


async def test_a_life_over_the_end_of_a_month_with_a_resize_and_a_new_price(billing: BillingWorld) -> None:
    cluster = await billing.make_cluster()
    start, resized = at("2026-03-31T23:59:30"), at("2026-04-01T00:10:10")
    await billing.price("0.0625", valid_to=at("2026-04-01T00:15:00"))
    await billing.price("0.0700", at("2026-04-01T00:15:00"))
    await billing.used(cluster, start, resized, quantity=4)
    await billing.used(cluster, resized, at("2026-04-01T00:20:01"), quantity=8, anchor_at=start)
    await billing.keep(at("2026-04-01T02:00:00"))
    charges = await billing.rows("SELECT minutes, quantity, cost FROM usage_charges ORDER BY first_minute")
    assert [tuple(row) for row in charges] == [
        (1, 4, Decimal("0.25")),
        (10, 4, Decimal("2.50")),
        (5, 8, Decimal("2.50")),
        (5, 8, Decimal("2.80")),
    ]
    assert await billing.tuples(BY_MONTH) == [
        ("2026-03-01", 1, Decimal("0.25")),
        ("2026-04-01", 20, Decimal("7.80")),
    ]


@pytest.mark.parametrize(
    ("start", "end", "minutes", "cost"),
    [
        ("10:00:00", "10:01:00", 1, "0.0625"),
        ("10:00:00", "10:00:01", 1, "0.0625"),
        ("10:00:00", "10:01:01", 2, "0.125"),
        ("09:30:45", "11:30:45", 120, "7.50"),
        ("10:00:00", "10:00:00", 0, "0"),
        ("10:30:00", "11:00:00", 30, "1.875"),
    ],
)
async def test_minutes_that_began(billing: BillingWorld, start: str, end: str, minutes: int, cost: str) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at(f"2026-05-05T{start}"), at(f"2026-05-05T{end}"))
    await billing.keep(at("2026-05-05T13:00:00"))
    assert await billing.total() == (minutes, Decimal(cost))


async def test_nothing_used_is_nothing_posted(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    await billing.make_cluster()
    await billing.keep(at("2026-05-05T12:00:00"))
    assert await billing.rows("SELECT FROM hour_closes") == []
    assert await billing.total() == (0, Decimal(0))


async def furnished(billing: BillingWorld) -> None:
    """Three clusters over six hours of a morning, with a resize, a new price and a second project."""
    await billing.price("0.0625", valid_to=at("2026-05-05T08:30:30"))
    await billing.price("0.0710", at("2026-05-05T08:30:30"))
    async with billing.database.begin() as connection:
        other = await make_project(connection, quota=None)
    first, second, third = await billing.make_cluster(), await billing.make_cluster(), await billing.make_cluster(other)
    await billing.used(first, at("2026-05-05T06:12:13"), at("2026-05-05T09:00:01"), quantity=4)
    await billing.used(
        first, at("2026-05-05T09:00:01"), at("2026-05-05T11:17:00"), quantity=16, anchor_at=at("2026-05-05T06:12:13")
    )
    await billing.used(second, at("2026-05-05T07:59:59"), at("2026-05-05T08:00:00"))
    await billing.used(third, at("2026-05-05T10:10:10"), quantity=2, project=other)


async def test_twice_in_any_order_and_by_many_at_once_is_once(billing: BillingWorld) -> None:
    await furnished(billing)
    billing.now(at("2026-05-05T12:02:00"))
    await open_months(billing.database)
    async with billing.database.read() as connection:
        due = await due_hours(connection, 100)
    assert due == [at(f"2026-05-05T{hour:02}:00:00") for hour in range(6, 12)]
    jumbled = [due[place * 5 % len(due)] for place in range(3 * len(due))]
    await asyncio.gather(*(close_hour(billing.database, hour) for hour in jumbled))
    once = await billing.digest()
    await billing.keep()
    assert await billing.digest() == once
    # What is posted is what the facts alone give: a correction adds nothing.
    assert [await correct_hour(billing.database, hour) for hour in due] == [0] * len(due)
    assert await billing.digest() == once
    assert (await billing.total())[0] == 305 + 1 + 110


async def test_an_hour_that_is_not_over_is_not_closed(billing: BillingWorld) -> None:
    await furnished(billing)
    billing.now(at("2026-05-05T06:59:59"))
    await open_months(billing.database)
    assert await close_hour(billing.database, at("2026-05-05T06:00:00")) == 0
    assert await billing.rows("SELECT FROM hour_closes") == []


async def test_what_comes_late_is_corrected_once(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    cluster = await billing.make_cluster()
    interval = await billing.used(cluster, at("2026-05-05T08:00:00"))
    await billing.keep(at("2026-05-05T11:30:00"))
    assert await billing.total() == (180, Decimal("11.25"))
    await billing.execute("UPDATE usage_intervals SET ended_at = '2026-05-05T09:30:00Z' WHERE id = :id", id=interval)
    async with billing.database.read() as connection:
        assert await hours_to_correct(connection, 10) == [at("2026-05-05T09:00:00"), at("2026-05-05T10:00:00")]
    await billing.keep()
    assert await billing.total() == (90, Decimal("5.625"))
    corrections = await billing.rows("SELECT hour, minutes, rev FROM usage_charges WHERE rev > 0 ORDER BY hour")
    assert [tuple(row) for row in corrections] == [
        (at("2026-05-05T09:00:00"), -30, 1),
        (at("2026-05-05T10:00:00"), -60, 1),
    ]
    once = await billing.digest()
    await billing.keep()
    assert await billing.digest() == once
    await billing.used(
        cluster, at("2026-05-05T09:40:00"), at("2026-05-05T09:50:00"), anchor_at=at("2026-05-05T08:00:00")
    )
    await billing.keep()
    assert await billing.total() == (100, Decimal("6.25"))


async def test_a_fact_from_before_the_first_closed_hour_is_closed_too(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-05-05T08:00:00"))
    await billing.keep(at("2026-05-05T09:30:00"))
    await billing.used(await billing.make_cluster(), at("2026-04-30T23:30:00"), at("2026-05-01T00:30:00"))
    await billing.keep(at("2026-05-05T09:31:00"))
    assert await billing.total() == (120, Decimal("7.50"))


async def test_a_writer_on_its_way_is_waited_for_or_corrected(billing: BillingWorld) -> None:
    """Whoever holds a fact back when its hour is closed: the fact is in the close, or the hour becomes dirty."""
    await billing.price("0.0625")
    first, second = await billing.make_cluster(), await billing.make_cluster()
    await billing.used(first, at("2026-05-05T08:00:00"), at("2026-05-05T08:30:00"))
    billing.now(at("2026-05-05T09:05:00"))
    await open_months(billing.database)
    insert = (
        "INSERT INTO usage_intervals (id, project_id, resource_id, flavor, sku, region, currency, quantity,"
        " anchor_at, started_at, ended_at) SELECT gen_random_uuid(), project_id, :cluster, flavor, sku, region,"
        " currency, 1, anchor_at, started_at, ended_at FROM usage_intervals WHERE resource_id = :first"
    )
    async with billing.database.begin() as connection:
        await connection.execute(sa.text(insert), {"cluster": second, "first": first})
        closing = asyncio.create_task(close_hour(billing.database, at("2026-05-05T08:00:00")))
        while not await billing.rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"):
            await asyncio.sleep(0.01)
    assert await closing == 2
    assert await billing.rows("SELECT FROM dirty_hours") == []
    third = await billing.make_cluster()
    await billing.execute(insert, cluster=third, first=first)
    await billing.keep()
    assert await billing.total() == (90, Decimal("5.625"))


ZONES = ["UTC", "Europe/Luxembourg", "America/St_Johns", "Pacific/Apia", "Asia/Kathmandu"]
BY_PRICE = "SELECT unit_price, list_unit_price, sum(minutes) FROM usage_charges GROUP BY 1, 2 ORDER BY min(started_at)"


async def test_a_contract_goes_before_the_list_while_it_holds_and_counts_where_the_list_has_nothing(
    billing: BillingWorld,
) -> None:
    start, until = at("2026-05-05T08:00:00"), at("2026-05-05T09:10:00")
    await billing.price("0.10", at("2026-05-05T08:30:00"))
    await billing.price("0.04", start, until, account=billing.project.id)
    await billing.used(await billing.make_cluster(), start, at("2026-05-05T09:30:00"))
    await billing.keep(at("2026-05-05T10:30:00"))
    assert await billing.tuples(BY_PRICE) == [
        (Decimal("0.04"), Decimal("0.04"), 30),
        (Decimal("0.04"), Decimal("0.10"), 40),
        (Decimal("0.10"), Decimal("0.10"), 20),
    ]


async def test_a_project_s_hours_are_paid_by_whom_they_began_under(billing: BillingWorld) -> None:
    await billing.price("0.10")
    await billing.used(await billing.make_cluster(), at("2026-05-05T08:00:00"))
    billing.now(at("2026-05-05T08:30:00"))
    async with billing.database.begin() as connection:
        other = await create(
            connection, name="Other", currency="EUR", legal_name=None, address=None, tax_id=None, payment_days=30
        )
        await assign(connection, billing.project.actor, other, default="EUR")
        await assign(connection, billing.project.actor, other, default="EUR")
    await billing.keep(at("2026-05-05T10:30:00"))
    paid = await billing.rows("SELECT hour, account_id FROM usage_charges ORDER BY hour")
    assert [tuple(row) for row in paid] == [
        (at("2026-05-05T08:00:00"), billing.project.id),
        (at("2026-05-05T09:00:00"), other),
    ]
    owed = await billing.rows("SELECT owner_id, debits FROM ledger_accounts WHERE code = 'unbilled' ORDER BY id")
    assert [tuple(row) for row in owed] == [(billing.project.id, 6), (other, 6)]


@pytest.mark.parametrize(
    "hour", ["2026-03-29T01:00:00", "2026-10-25T00:00:00", "2026-12-31T23:00:00", "2024-02-29T23:00:00"]
)
async def test_no_time_zone_of_a_session_changes_a_charge(billing: BillingWorld, hour: str) -> None:
    await billing.price("0.0625", valid_to=at(hour).replace(minute=40))
    await billing.price("0.0700", at(hour).replace(minute=40))
    await billing.used(await billing.make_cluster(), at(hour).replace(minute=10, second=30), quantity=3)
    billing.now(at("2027-01-02T00:00:00"))
    await open_months(billing.database)
    await billing.execute("INSERT INTO hour_closes (hour) VALUES (:hour)", hour=at(hour))
    charges = set()
    for zone in ZONES:
        async with billing.database.begin() as connection:
            await connection.execute(sa.text("SELECT set_config('TimeZone', :zone, true)"), {"zone": zone})
            assert await post_hour(connection, at(hour)) == 2
            result = await connection.execute(
                sa.text(
                    "SELECT billing_month::text, extract(epoch FROM hour), first_minute, minutes, cost, idem"
                    "  FROM usage_charges, ledger_transfers ORDER BY first_minute"
                )
            )
            charges.add(str(result.all()))
            await connection.rollback()
    assert len(charges) == 1
    assert f"'{hour[:8]}01'" in charges.pop()
