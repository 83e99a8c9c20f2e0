"""An invoice's figures add up to the last digit, whatever its lines, credit and wallet."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from ipucloud.billing.invoices.arithmetic import LineInput, settle

costs = st.decimals(Decimal("-50"), Decimal("5000"), places=10)
balances = st.decimals(Decimal("0"), Decimal("6000"), places=4)
rates = st.sampled_from([Decimal("0"), Decimal("0.03"), Decimal("0.17"), Decimal("0.21")])
invoices = st.lists(st.builds(LineInput, costs, rates), max_size=12)


@given(invoices, balances, balances)
def test_the_exported_rows_sum_to_the_payable_total(lines: list[LineInput], promo: Decimal, wallet: Decimal) -> None:
    invoice = settle(lines, promo=promo, wallet=wallet)
    assert sum(invoice.export_rows) == invoice.total
    assert invoice.total == invoice.subtotal - invoice.promo_applied + invoice.tax
    assert invoice.cost + invoice.adjustment == invoice.subtotal
    assert invoice.due == invoice.total - invoice.wallet_applied


@given(invoices, balances, balances)
def test_credit_and_wallet_are_whole_cents_and_never_more_than_there_is_to_pay(
    lines: list[LineInput], promo: Decimal, wallet: Decimal
) -> None:
    invoice = settle(lines, promo=promo, wallet=wallet)
    assert 0 <= invoice.promo_applied <= min(promo, max(invoice.subtotal, Decimal(0)))
    assert 0 <= invoice.wallet_applied <= min(wallet, max(invoice.total, Decimal(0)))
    for amount in (invoice.promo_applied, invoice.wallet_applied, invoice.due, invoice.total):
        assert amount == amount.quantize(Decimal("0.01"))


@given(invoices, balances)
def test_every_rate_is_taxed_on_its_rounded_subtotal(lines: list[LineInput], promo: Decimal) -> None:
    invoice = settle(lines, promo=promo)
    assert {line.rate for line in invoice.taxes} == {line.tax_rate for line in lines}
    for taxed in invoice.taxes:
        assert abs(taxed.tax - taxed.taxable * taxed.rate) <= Decimal("0.005")


def test_no_usage_is_no_money() -> None:
    invoice = settle([], promo=Decimal(10), wallet=Decimal(10))
    assert invoice.total == invoice.due == invoice.promo_applied == invoice.wallet_applied == 0


def test_credit_is_spread_over_rates_in_proportion() -> None:
    invoice = settle(
        [LineInput(Decimal("20"), Decimal("0.17")), LineInput(Decimal("10"), Decimal("0"))],
        promo=Decimal("10.00"),
    )
    assert [(line.rate, line.taxable) for line in invoice.taxes] == [
        (Decimal("0"), Decimal("6.67")),
        (Decimal("0.17"), Decimal("13.33")),
    ]


def test_a_correction_larger_than_the_usage_is_owed_to_the_customer() -> None:
    invoice = settle([LineInput(Decimal("-3.50"), Decimal("0"))], promo=Decimal(5), wallet=Decimal(5))
    assert invoice.due == Decimal("-3.50")
    assert invoice.promo_applied == invoice.wallet_applied == 0
