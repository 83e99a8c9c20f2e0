"""A worker killed anywhere while it issues invoices: the next one ends with the documents of one that was not.

So do two at once, and one that comes again.
"""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.invoices.payment_port import RECORDED
from ipucloud.billing.invoices.payments import collect_payments, expect_payment
from ipucloud.db.engine import Database
from tests.feature.billing.invoices.customers import SEALED, assert_billing_sound, euros, granted, paid, taxed, transact
from tests.feature.billing.test_killed import killed_at
from tests.feature.billing.world import BillingWorld, at, in_billing_world
from tests.support.factories import make_project
from tests.support.postgres import Database as Scratch

DOCS = Path(__file__).parents[4] / "docs"
POINTS = [
    name for name in runpy.run_path(str(DOCS / "generate_failpoints.py"))["names"]() if name.startswith("invoices.")
]
# Nothing that differs from one database to the next: documents without the names that ids give.
FIGURES = (
    "SELECT number, month, due_on, cost, subtotal, promo_applied, tax, total, wallet_applied, due FROM invoices"
    " ORDER BY number",
    "SELECT regexp_replace(document::text, '[0-9a-f]{8}-[0-9a-f-]{27}|project-[0-9a-f-]+', '', 'gi') FROM invoices"
    " ORDER BY number",
    "SELECT number, line, minutes, machine_minutes, x.cost, amount FROM invoice_lines x JOIN invoices i"
    " ON i.id = invoice_id ORDER BY number, line",
    "SELECT kind, amount FROM ledger_transfers ORDER BY kind, amount",
    "SELECT code, debits, credits FROM ledger_accounts ORDER BY code, debits, credits",
    "SELECT series, year, last FROM invoice_counters",
    "SELECT month FROM invoiced_months",
    "SELECT amount, invoice_id IS NULL FROM promo_credit_uses ORDER BY amount",
    "SELECT checks, state FROM payments ORDER BY checks",
)
Figures = list[list[tuple[object, ...]]]


async def prepare(billing: BillingWorld) -> None:
    """Three accounts used something in April, which is sealed but not verified; one credit expired, one did not."""
    await taxed(billing)
    await billing.price("0.0625")
    await granted(billing, "50.00", at("2026-04-30T22:30:00"))
    await granted(billing, "10.00", at("2026-05-01T12:00:00"))
    await paid(billing, "1.00", "first")
    await transact(billing, lambda connection: expect_payment(connection, billing.project.id, euros("5.00")))
    for quantity in (4, 5, 7):
        home = billing.project
        if quantity > 4:
            home = await transact(billing, lambda connection: make_project(connection, quota=None))
        cluster = await billing.make_cluster(home)
        await billing.used(
            cluster, at("2026-04-30T22:00:00"), at("2026-05-01T00:10:00"), quantity=quantity, project=home
        )
    billing.now(SEALED)


async def figures(billing: BillingWorld) -> Figures:
    return [await billing.tuples(statement) for statement in FIGURES]


async def turn(database: Database) -> None:
    """What a worker does every minute, one after the other."""
    await keep_books(database)
    await collect_payments(database, RECORDED)


async def finish(billing: BillingWorld) -> Figures:
    await turn(billing.database)
    result = await figures(billing)
    await assert_billing_sound(billing)
    return result


async def undisturbed(billing: BillingWorld) -> Figures:
    await prepare(billing)
    result = await finish(billing)
    assert await finish(billing) == result
    return result


@pytest.fixture(scope="module")
def expected(postgres: Any) -> Figures:
    with postgres.fresh_database() as scratch:
        result: Figures = asyncio.run(in_billing_world(scratch, undisturbed))
    assert [row[0] for row in result[0]] == [f"INV-2026-00000{number}" for number in (1, 2, 3)]
    assert [str(row[0]) for row in result[7]] == ["10.0000000000", "15.0000000000", "35.0000000000"]
    return result


@pytest.mark.parametrize("point", POINTS)
def test_invoices_are_issued_once(database: Scratch, expected: Figures, point: str) -> None:
    asyncio.run(in_billing_world(database, prepare))
    hit = 2 if point in {"invoices.numbered", "invoices.before_commit", "invoices.committed"} else 1
    assert killed_at(database, point, hit, turn), "the worker did not come to the point"
    result: Figures = asyncio.run(in_billing_world(database, finish))
    assert result == expected


def test_workers_that_come_beside_each_other_issue_them_once(database: Scratch, expected: Figures) -> None:
    async def work(billing: BillingWorld) -> Figures:
        await prepare(billing)
        await asyncio.gather(*(turn(billing.database) for _ in range(3)), return_exceptions=True)
        return await finish(billing)

    result: Figures = asyncio.run(in_billing_world(database, work))
    assert sorted(result[0]) == sorted(expected[0])
    assert result[3:7] == expected[3:7]
