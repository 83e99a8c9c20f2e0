"""An invoice's figures add up to the last digit, whatever its lines, credit and wallet."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from ipucloud.billing.invoices.arithmetic import settle
from ipucloud.kernel.money import rounded

costs = st.decimals(Decimal("-50"), Decimal("5000"), places=10)
balances = st.decimals(Decimal("0"), Decimal("6000"), places=4)
rates = st.sampled_from([Decimal("0"), Decimal("0.03"), Decimal("0.17"), Decimal("0.21")])
lines = st.lists(costs, max_size=12)


@given(lines, rates, balances, balances)
def test_the_exported_rows_sum_to_the_payable_total(
    costs: list[Decimal], rate: Decimal, promo: Decimal, wallet: Decimal
) -> None:
    invoice = settle(costs, rate, promo=promo, wallet=wallet)
    assert sum(costs) + invoice.adjustment - invoice.promo_applied + invoice.tax == invoice.total
    assert invoice.total == invoice.subtotal - invoice.promo_applied + invoice.tax
    assert invoice.cost + invoice.adjustment == invoice.subtotal
    assert invoice.due == invoice.total - invoice.wallet_applied


@given(lines, rates, balances, balances)
def test_credit_and_wallet_are_whole_cents_and_never_more_than_there_is_to_pay(
    costs: list[Decimal], rate: Decimal, promo: Decimal, wallet: Decimal
) -> None:
    invoice = settle(costs, rate, promo=promo, wallet=wallet)
    assert 0 <= invoice.promo_applied <= min(promo, max(invoice.subtotal, Decimal(0)))
    assert min(invoice.total, Decimal(0)) <= invoice.wallet_applied <= min(wallet, max(invoice.total, Decimal(0)))
    assert invoice.due >= 0
    for amount in (invoice.promo_applied, invoice.wallet_applied, invoice.due, invoice.total):
        assert amount == amount.quantize(Decimal("0.01"))


@given(lines, rates, balances)
def test_tax_is_rounded_once_on_what_is_left_of_the_rounded_lines(
    costs: list[Decimal], rate: Decimal, promo: Decimal
) -> None:
    invoice = settle(costs, rate, promo=promo)
    assert invoice.subtotal == sum(rounded(cost) for cost in costs)
    assert abs(invoice.tax - invoice.taxable * rate) <= Decimal("0.005")


def test_no_usage_is_no_money() -> None:
    invoice = settle([], Decimal("0.17"), promo=Decimal(10), wallet=Decimal(10))
    assert invoice.total == invoice.due == invoice.promo_applied == invoice.wallet_applied == 0


def test_a_correction_larger_than_the_usage_is_put_into_the_wallet() -> None:
    invoice = settle([Decimal("-3.50")], Decimal(0), promo=Decimal(5), wallet=Decimal(5))
    assert (invoice.total, invoice.wallet_applied) == (Decimal("-3.50"), Decimal("-3.50"))
    assert invoice.due == invoice.promo_applied == 0
