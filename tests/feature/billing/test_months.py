"""Months of the bill: open before they begin, sealed on the second day of the next, and untouched from then on."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import psycopg
import pytest
from psycopg.errors import CheckViolation, InsufficientPrivilege, IntegrityConstraintViolation

from ipucloud.billing.ledger.months import note_late_months, open_months, seal_months
from tests.feature.billing.world import BillingWorld, at
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

SEALED = "SELECT month FROM billing_months WHERE sealed_at IS NOT NULL ORDER BY month"


async def sealed(billing: BillingWorld) -> list[date]:
    return [row.month for row in await billing.rows(SEALED)]


async def test_months_are_open_before_they_begin(billing: BillingWorld) -> None:
    billing.now(at("2026-12-31T23:59:59"))
    months = await open_months(billing.database)
    assert months == [date(2026, 12, 1), date(2027, 1, 1), date(2027, 2, 1)]
    assert await open_months(billing.database) == []
    billing.now(at("2027-01-01T00:00:00"))
    assert await open_months(billing.database) == [date(2027, 3, 1)]


async def test_a_month_is_sealed_on_the_second_day_of_the_next(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-04-29T22:00:00"))
    await billing.keep(at("2026-05-01T23:59:59"))
    assert await sealed(billing) == []
    await billing.keep(at("2026-05-02T00:00:00"))
    assert await sealed(billing) == [date(2026, 4, 1)]
    assert await billing.rows("SELECT FROM usage_charges WHERE rev > 0") == []


async def test_what_comes_late_for_a_sealed_month_lands_in_the_open_one(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    cluster = await billing.make_cluster()
    interval = await billing.used(cluster, at("2026-04-30T20:00:00"))
    await billing.keep(at("2026-05-03T00:02:00"))
    april = "SELECT md5(string_agg(c::text, '' ORDER BY hour)) FROM usage_charges c WHERE billing_month = '2026-04-01'"
    before = await billing.rows(april)
    await billing.execute("UPDATE usage_intervals SET ended_at = '2026-04-30T21:10:00Z' WHERE id = :id", id=interval)
    await billing.keep()
    assert await billing.rows(april) == before
    corrections = await billing.rows(
        "SELECT hour, started_at, ended_at, minutes, cost FROM usage_charges"
        " WHERE billing_month = '2026-05-01' AND hour < '2026-05-01Z' ORDER BY hour"
    )
    assert [tuple(row) for row in corrections] == [
        (at("2026-04-30T21:00:00"), at("2026-04-30T21:00:00"), at("2026-04-30T22:00:00"), -50, Decimal("-3.125")),
        (at("2026-04-30T22:00:00"), at("2026-04-30T22:00:00"), at("2026-04-30T23:00:00"), -60, Decimal("-3.75")),
        (at("2026-04-30T23:00:00"), at("2026-04-30T23:00:00"), at("2026-05-01T00:00:00"), -60, Decimal("-3.75")),
    ]
    assert await billing.total() == (70, Decimal("4.375"))
    [balance] = await billing.rows("SELECT debits - credits FROM ledger_accounts WHERE code = 'unbilled'")
    assert balance[0] == Decimal("4.375")


EVENTS = "SELECT type, data::jsonb ->> 'hour' FROM events WHERE type LIKE 'price.%' ORDER BY id"


async def test_minutes_without_a_price_hold_nothing_up(billing: BillingWorld) -> None:
    """The month is sealed without them; they are charged when they have a price, in the month that is open then."""
    await billing.price("0.0625", at("2026-04-30T23:00:00"))
    await billing.used(await billing.make_cluster(), at("2026-04-30T21:30:00"), at("2026-04-30T23:30:00"))
    await billing.keep(at("2026-05-02T00:00:00"))
    assert await sealed(billing) == [date(2026, 4, 1)]
    assert await billing.total() == (30, Decimal("1.875"))
    noted = "SELECT hour, minutes FROM unpriced_minutes ORDER BY hour"
    assert [tuple(row) for row in await billing.rows(noted)] == [
        (at("2026-04-30T21:00:00"), 30),
        (at("2026-04-30T22:00:00"), 60),
    ]
    await billing.price("0.0500", at("2026-04-01T00:00:00"), at("2026-04-30T23:00:00"))
    await billing.keep()
    assert await billing.rows(noted) == []
    assert await billing.total() == (120, Decimal("6.375"))
    late = "SELECT billing_month, sum(cost) FROM usage_charges WHERE rev > 0 GROUP BY 1"
    assert [tuple(row) for row in await billing.rows(late)] == [(date(2026, 5, 1), Decimal("4.50"))]
    assert [tuple(row) for row in await billing.rows(EVENTS)] == [
        ("price.missing", "2026-04-30T21:00:00Z"),
        ("price.supplied", "2026-04-30T22:00:00Z"),
    ]


async def test_operators_are_told_once_of_a_month_that_is_not_sealed(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-04-30T22:30:00"))
    billing.now(at("2026-05-01T12:00:00"))
    await open_months(billing.database)
    late = []
    for now in ("2026-05-02T23:59:59", "2026-05-03T00:00:00", "2026-05-04T00:00:00"):
        billing.now(at(now))
        late += await note_late_months(billing.database)
    assert late == [date(2026, 4, 1)]
    await billing.keep()
    events = await billing.rows("SELECT type, data::jsonb ->> 'month' FROM events ORDER BY id")
    assert [tuple(row) for row in events] == [("billing_month.late", "2026-04"), ("billing_month.sealed", "2026-04")]


def refuses(database: Scratch, why: str) -> None:
    with psycopg.connect(database.app_url) as connection, pytest.raises(IntegrityConstraintViolation, match=why):
        connection.execute("SELECT seal_billing_month('2026-04-01')")


async def test_a_month_is_not_sealed_early_or_with_hours_that_are_open(
    billing: BillingWorld, database: Scratch
) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-04-30T22:30:00"))
    billing.now(at("2026-05-01T12:00:00"))
    await open_months(billing.database)
    refuses(database, "second day")
    billing.now(at("2026-05-02T12:00:00"))
    assert await seal_months(billing.database) == []
    await billing.execute("INSERT INTO hour_closes (hour) VALUES ('2026-04-30T22:00:00Z')")
    refuses(database, "not closed and verified")


CHARGE = """
INSERT INTO usage_charges (billing_month, hour, resource_id, first_minute, rev, project_id, account_id, interval_id,
                           price_id, started_at, ended_at, minutes, quantity, sku, region, currency, unit_price,
                           list_unit_price)
SELECT '{month}', hour, resource_id, first_minute, 9, project_id, account_id, interval_id, price_id, started_at,
       ended_at, minutes, quantity, sku, region, currency, unit_price, list_unit_price FROM usage_charges LIMIT 1
"""


async def test_the_database_refuses_what_would_rewrite_money(billing: BillingWorld, database: Scratch) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-04-30T22:30:00"))
    await billing.keep(at("2026-05-02T00:00:00"))
    app, owner = database.app_url, database.owner_url
    refused: list[tuple[str, str, type[psycopg.Error]]] = [
        (app, CHARGE.format(month="2026-04-01"), IntegrityConstraintViolation),
        (owner, CHARGE.format(month="2026-04-01"), IntegrityConstraintViolation),
        (app, CHARGE.format(month="2031-04-01"), CheckViolation),
        (owner, "UPDATE usage_charges SET minutes = 1", IntegrityConstraintViolation),
        (owner, "DELETE FROM usage_charges", IntegrityConstraintViolation),
        (owner, "TRUNCATE usage_charges", IntegrityConstraintViolation),
        (owner, "UPDATE ledger_transfers SET amount = 1", IntegrityConstraintViolation),
        (owner, "DELETE FROM ledger_transfers", IntegrityConstraintViolation),
        (owner, "TRUNCATE ledger_transfers", IntegrityConstraintViolation),
        (owner, "UPDATE prices SET unit_price = 0", IntegrityConstraintViolation),
        (owner, "UPDATE prices SET valid_to = '2026-04-30Z'", IntegrityConstraintViolation),
    ]
    money = ("usage_charges", "ledger_transfers", "usage_charges_2026_04", "usage_charges_2026_05")
    for change in ("UPDATE {} SET currency = currency", "DELETE FROM {}", "TRUNCATE {}"):
        refused += [(app, change.format(table), InsufficientPrivilege) for table in money]
    refused += [
        (app, "SELECT FROM usage_charges_2026_04", InsufficientPrivilege),
        (app, "INSERT INTO usage_charges_2026_05 SELECT FROM usage_charges", InsufficientPrivilege),
        (app, "UPDATE ledger_accounts SET credits = 0", InsufficientPrivilege),
        (app, "INSERT INTO ledger_accounts (code, currency, credits) VALUES ('cash', 'EUR', 5)", InsufficientPrivilege),
        (app, "UPDATE billing_months SET sealed_at = NULL", InsufficientPrivilege),
        (app, "UPDATE contract_prices SET unit_price = 0", InsufficientPrivilege),
        (app, "DELETE FROM contract_prices", InsufficientPrivilege),
        (app, "UPDATE project_accounts SET account_id = account_id", InsufficientPrivilege),
        (app, "DELETE FROM hour_closes", InsufficientPrivilege),
        (app, "ALTER TABLE usage_charges DISABLE TRIGGER usage_charges_final", InsufficientPrivilege),
        (app, "DROP TRIGGER sealed ON usage_charges_2026_04", InsufficientPrivilege),
    ]
    before = await billing.digest()
    for url, statement, error in refused:
        with psycopg.connect(url) as connection, pytest.raises(error):
            connection.execute(statement.encode())
    assert await billing.digest() == before
