"""Funds, draft and invoices agree on what credit and wallet pay: bookkeeping by itself changes no account's funds."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal

import pytest

from ipucloud.billing.invoices.calculation import compute
from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.invoices.payer import read_payer
from ipucloud.billing.prepaid.funds import Facts, facts_of
from tests.feature.billing.invoices.customers import assert_billing_sound, granted, paid, taxed
from tests.feature.billing.world import BillingWorld, at

pytestmark = pytest.mark.anyio

BEGIN = at("2026-04-30T19:00:00")
LOOKED = (
    at("2026-04-30T22:20:00"),
    at("2026-04-30T23:59:30"),
    at("2026-05-01T00:30:00"),
    at("2026-05-01T03:02:00"),
    at("2026-05-02T00:10:00"),
    at("2026-05-02T03:00:00"),
)
CENT = Decimal("0.03")
"""Two lines and their tax, rounded."""


@pytest.mark.parametrize("seed", range(4))
async def test_closing_invoicing_and_expiry_leave_the_funds_as_they_were(billing: BillingWorld, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # repeatable, not secret
    billing.now(BEGIN)
    await taxed(billing, chance.choice(["0", "0.17", "0.21"]))
    await _live(billing, chance)
    for instant in LOOKED:
        billing.now(instant)
        before = await _facts(billing)
        await billing.keep()
        after = await _facts(billing)
        assert abs(after.standing.remaining() - before.standing.remaining()) <= CENT, instant
        assert abs(after.standing.available() - before.standing.available()) <= CENT, instant
        await _agrees_with_the_draft(billing, after)
    assert await billing.rows("SELECT FROM invoices") != []
    await assert_billing_sound(billing)


async def _live(billing: BillingWorld, chance: random.Random) -> None:
    """Two clusters around the end of a month; credits that expire before, during and after, and a wallet."""
    await billing.price(Decimal(chance.randint(100, 2000)) / 10_000)
    for _ in range(2):
        start = BEGIN + timedelta(minutes=chance.randint(0, 290))
        end = start + timedelta(minutes=chance.randint(5, 290))
        await billing.used(await billing.make_cluster(), start, end, quantity=chance.randint(1, 4))
    for _ in range(chance.randint(1, 4)):
        expires = BEGIN + timedelta(minutes=chance.randint(10, 900), seconds=chance.randint(0, 59))
        await granted(billing, str(Decimal(chance.randint(100, 4000)) / 100), expires)
    await paid(billing, str(Decimal(chance.randint(100, 20_000)) / 100), "wire")


async def _facts(billing: BillingWorld) -> Facts:
    async with billing.database.read() as connection:
        return await facts_of(connection, billing.project.id, currency="EUR")


async def _agrees_with_the_draft(billing: BillingWorld, facts: Facts) -> None:
    """Where one month alone is not invoiced, and everything used is posted."""
    open_months = await billing.rows(
        "SELECT DISTINCT billing_month FROM usage_charges c WHERE NOT EXISTS ("
        " SELECT FROM invoices i WHERE i.account_id = c.account_id AND i.month = c.billing_month)"
    )
    if facts.unposted or len(open_months) != 1:
        return
    async with billing.database.read() as connection:
        payer = await read_payer(connection, billing.project.id)
        draft = await compute(connection, Bill(payer.id, "EUR", open_months[0][0]), payer)
    standing = facts.standing
    valid = sum((each.rest for each in standing.credits if each.used_before is None), Decimal(0))
    burned = {each.credit_id: each.amount for each in draft.burned}
    expired = await billing.rows("SELECT id FROM promo_credits WHERE expires_at <= app_now()")
    of_valid = draft.totals.promo_applied - sum((burned.get(row.id, Decimal(0)) for row in expired), Decimal(0))
    rest = facts.wallet - facts.outstanding - draft.totals.total + valid - of_valid
    assert abs(standing.remaining() - rest) <= CENT
    tax = standing.tax(standing.used, standing.credit())
    assert abs(tax - draft.totals.tax) <= CENT
