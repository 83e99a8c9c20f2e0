"""Invoices: issued once a month is sealed, from its charges, with tax, credit and wallet; the worked examples."""

from __future__ import annotations

import pytest

from tests.feature.billing.invoices.customers import (
    SEALED,
    a_minute,
    assert_billing_sound,
    balances,
    documents,
    figures,
    granted,
    paid,
    taxed,
)
from tests.feature.billing.world import BillingWorld, at

pytestmark = pytest.mark.anyio


async def test_the_worked_example_with_credit_and_wallet(billing: BillingWorld) -> None:
    await taxed(billing)
    await granted(billing, "10.00")
    await paid(billing, "5.00", "first")
    await a_minute(billing, "18.1234")
    await billing.keep(SEALED)
    [invoice] = await documents(billing)
    assert invoice["number"] == "INV-2026-000001"
    assert figures(invoice) == {
        "cost": "18.1234",
        "adjustment": "-0.0034",
        "subtotal": "18.12",
        "promo_applied": "10.00",
        "taxable": "8.12",
        "tax": "1.38",
        "total": "9.50",
        "wallet_applied": "5.00",
        "due": "4.50",
    }
    assert await balances(billing) == {
        "receivable": "-4.50",
        "revenue": "8.1234",
        "rounding": "-0.0034",
        "tax": "1.38",
        "cash": "-5.00",
    }
    await paid(billing, "4.50", "second", "INV-2026-000001")
    assert "receivable" not in await balances(billing)


@pytest.mark.parametrize(
    ("currency", "rate", "used", "expected"),
    [
        ("EUR", "0.17", ("0.095", 1, 11), {"cost": "1.045", "adjustment": "0.005", "tax": "0.18", "total": "1.23"}),
        ("JPY", "0.10", ("1.2345", 4, 7), {"cost": "34.566", "adjustment": "0.434", "tax": "4", "total": "39"}),
        ("KWD", "0", ("0.0123", 1, 7), {"cost": "0.0861", "adjustment": "-0.0001", "tax": "0.000", "total": "0.086"}),
    ],
)
async def test_amounts_have_the_decimal_places_of_their_currency(
    billing: BillingWorld, currency: str, rate: str, used: tuple[str, int, int], expected: dict[str, str]
) -> None:
    price, machines, minutes = used
    await taxed(billing, rate)
    await billing.price(price, currency=currency)
    await billing.used(
        await billing.make_cluster(),
        at("2026-04-30T22:00:00"),
        at(f"2026-04-30T22:{minutes:02}:00"),
        quantity=machines,
        currency=currency,
    )
    await billing.keep(SEALED)
    [invoice] = await documents(billing)
    assert {name: figures(invoice)[name] for name in expected} == expected
    await assert_billing_sound(billing)
