"""Months of the bill, sealed on the second day of the next and untouched from then on; and the double entry."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal

import psycopg
import pytest
import sqlalchemy as sa
from psycopg.errors import CheckViolation, InsufficientPrivilege, IntegrityConstraintViolation

from ipucloud.billing.invoices.posting import Move, post
from ipucloud.billing.ledger.months import note_late_months, open_months, seal_months
from ipucloud.billing.ledger.transfers import Side, balances
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
    assert await billing.tuples(noted) == [
        (at("2026-04-30T21:00:00"), 30),
        (at("2026-04-30T22:00:00"), 60),
    ]
    await billing.price("0.0500", at("2026-04-01T00:00:00"), at("2026-04-30T23:00:00"))
    await billing.keep()
    assert await billing.rows(noted) == []
    assert await billing.total() == (120, Decimal("6.375"))
    late = "SELECT billing_month, sum(cost) FROM usage_charges WHERE rev > 0 GROUP BY 1"
    assert await billing.tuples(late) == [(date(2026, 5, 1), Decimal("4.50"))]
    assert await billing.tuples(EVENTS) == [
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


CASH = Side("cash", None, "EUR")
TRIAL = "SELECT currency, sum(debits) - sum(credits) FROM ledger_accounts GROUP BY currency"


TRANSFER = """
INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)
SELECT 'odd', 'test', debit.id, credit.id, debit.currency, :amount, app_now()
  FROM ledger_accounts debit, ledger_accounts credit WHERE debit.code = 'cash' AND credit.code = 'wallet'
"""


async def move(billing: BillingWorld, idem: str, debit: Side, credit: Side, amount: str) -> bool:
    async with billing.database.begin() as connection:
        await post(connection, [Move(idem, "test", debit, credit, Decimal(amount))])
    return True


def wallet(billing: BillingWorld) -> Side:
    return Side("wallet", billing.project.id, "EUR")


async def test_usage_is_owed_as_it_is_closed(billing: BillingWorld) -> None:
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), at("2026-05-05T08:00:00"), quantity=4)
    await billing.keep(at("2026-05-05T10:30:00"))
    transfers = await billing.rows("SELECT idem, kind, amount, effective_at FROM ledger_transfers ORDER BY id")
    account = billing.project.id
    assert [tuple(row) for row in transfers] == [
        (f"usage/2026-05-05T08/0/{account}/EUR", "usage", Decimal(15), at("2026-05-05T08:00:00")),
        (f"usage/2026-05-05T09/0/{account}/EUR", "usage", Decimal(15), at("2026-05-05T09:00:00")),
    ]
    async with billing.database.read() as connection:
        [owed] = await balances(connection, account)
    assert (owed.code, owed.balance) == ("unbilled", Decimal(-30))
    assert await billing.tuples(TRIAL) == [("EUR", 0)]


async def test_the_same_transfer_moves_money_once(billing: BillingWorld) -> None:
    done = await asyncio.gather(
        *(move(billing, "top-up-1", CASH, wallet(billing), "25.00") for _ in range(5)), return_exceptions=True
    )
    assert [each for each in done if each is True] == [True]
    refused = [each for each in done if each is not True]
    assert all(isinstance(each, sa.exc.IntegrityError) and "idem" in str(each) for each in refused)
    async with billing.database.read() as connection:
        assert [each.balance for each in await balances(connection, billing.project.id)] == [Decimal(25)]


@pytest.mark.parametrize("amount", ["0", "-1"])
async def test_nothing_and_less_cannot_be_moved(billing: BillingWorld, amount: str) -> None:
    await move(billing, "top-up", CASH, wallet(billing), "1")
    with pytest.raises(sa.exc.IntegrityError, match="ck_ledger_transfers_amount"):
        await billing.execute(TRANSFER, amount=Decimal(amount))


async def test_currencies_do_not_mix(billing: BillingWorld) -> None:
    account = billing.project.id
    for code, owner, currency in (("cash", None, "EUR"), ("wallet", account, "USD")):
        await billing.execute(
            "INSERT INTO ledger_accounts (code, owner_id, currency) VALUES (:code, :owner, :currency)",
            code=code,
            owner=owner,
            currency=currency,
        )
    with pytest.raises(sa.exc.IntegrityError, match="fk_ledger_transfers_credit"):
        await billing.execute(TRANSFER, amount=Decimal(1))
