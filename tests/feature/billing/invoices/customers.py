"""What the tests of invoices start from, and look at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

import orjson
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.credits import grant
from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.invoices.seller import NewTaxRate, add_rate
from ipucloud.invariants import billing_invoices, billing_ledger
from ipucloud.invariants.rules import Invariant, violations
from ipucloud.kernel.money import Money, plain
from tests.feature.billing.world import BillingWorld, at

Result = TypeVar("Result")
SEALED = at("2026-05-02T00:00:00")
ALL_OF_MONEY = (*billing_ledger.RULES, *billing_invoices.RULES)
NEVER = at("2126-01-01T00:00:00")


def euros(amount: str | Decimal) -> Money:
    return Money.of(amount, "EUR")


async def transact(billing: BillingWorld, work: Callable[[AsyncConnection], Awaitable[Result]]) -> Result:
    async with billing.database.begin() as connection:
        return await work(connection)


async def taxed(billing: BillingWorld, rate: str = "0.17", country: str = "LU", since: date = date(2020, 1, 1)) -> None:
    new = NewTaxRate(country, "standard", "VAT", Decimal(rate), since, "test")
    await transact(billing, lambda connection: add_rate(connection, new))


async def granted(
    billing: BillingWorld, amount: str, expires_at: datetime = NEVER, account: UUID | None = None
) -> UUID:
    payer = account or billing.project.id
    return await transact(
        billing, lambda connection: grant(connection, payer, euros(amount), reason="welcome", expires_at=expires_at)
    )


async def paid(
    billing: BillingWorld, amount: str, reference: str, invoice: str | None = None, *, currency: str = "EUR"
) -> UUID:
    payer, money = billing.project.id, Money.of(amount, currency)
    return await transact(
        billing, lambda connection: record_payment(connection, payer, money, reference=reference, invoice=invoice)
    )


async def a_minute(billing: BillingWorld, price: str, minutes: int = 1) -> UUID:
    """One machine for so many minutes on the last of April, at that price for one of them."""
    await billing.price(price)
    cluster = await billing.make_cluster()
    await billing.used(cluster, at("2026-04-30T22:00:00"), at(f"2026-04-30T22:{minutes:02}:00"))
    return cluster


async def documents(billing: BillingWorld) -> list[dict[str, Any]]:
    rows = await billing.rows("SELECT document::text AS document FROM invoices ORDER BY number")
    return [orjson.loads(row.document) for row in rows]


async def balances(billing: BillingWorld) -> dict[str, str]:
    """What every account of the ledger holds, but for those that hold nothing."""
    rows = await billing.rows(
        "SELECT code, sum(credits - debits) AS held FROM ledger_accounts GROUP BY code"
        " HAVING sum(credits - debits) <> 0"
    )
    return {row.code: plain(row.held) for row in rows}


def figures(document: dict[str, Any]) -> dict[str, str]:
    """Its amounts."""
    return {name: value["amount"] for name, value in document.items() if isinstance(value, dict) and "amount" in value}


async def assert_billing_sound(billing: BillingWorld, rules: Sequence[Invariant] = ALL_OF_MONEY) -> None:
    """Every rule about money holds; the clusters of these tests are bare rows, which other rules would not like."""
    async with billing.database.read() as connection:
        broken_rules = [
            (rule.name, broken.object_id, broken.detail)
            for rule in rules
            for broken in await violations(connection, rule)
        ]
    assert not broken_rules, broken_rules
