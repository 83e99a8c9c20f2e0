"""The worked examples of invoice arithmetic, one test each; those of minutes are the database's to compute."""

from __future__ import annotations

from decimal import Decimal

from ipucloud.billing.invoices.arithmetic import compute_totals


def test_invoice_with_credit_wallet_and_tax() -> None:
    invoice = compute_totals(
        [(Decimal("18.1234"), Decimal("0.17"))], places=2, promo=Decimal("10.00"), wallet=Decimal("5.00")
    )
    assert invoice.subtotal == Decimal("18.12")
    assert invoice.adjustment == Decimal("-0.0034")
    assert invoice.taxable == Decimal("8.12")
    assert invoice.tax == Decimal("1.38")
    assert invoice.total == Decimal("9.50")
    assert invoice.wallet_applied == Decimal("5.00")
    assert invoice.due == Decimal("4.50")


def test_invoice_rounds_half_a_cent_away_from_zero() -> None:
    usage = 11 * Decimal("0.095")
    invoice = compute_totals([(usage, Decimal("0.17"))], places=2)
    assert usage == Decimal("1.045")
    assert invoice.subtotal == Decimal("1.05")
    assert invoice.tax == Decimal("0.18")
    assert invoice.total == Decimal("1.23")
    assert invoice.adjustment == Decimal("0.005")


def test_invoice_in_yen_has_no_decimal_places() -> None:
    invoice = compute_totals([(7 * 4 * Decimal("1.2345"), Decimal("0.10"))], places=0)
    assert [invoice.subtotal, invoice.tax, invoice.total] == [Decimal(35), Decimal(4), Decimal(39)]
    assert invoice.adjustment == Decimal("0.434")


def test_invoice_in_kuwaiti_dinar_has_three() -> None:
    invoice = compute_totals([(7 * Decimal("0.0123"), Decimal(0))], places=3)
    assert (invoice.total, invoice.adjustment) == (Decimal("0.086"), Decimal("-0.0001"))
