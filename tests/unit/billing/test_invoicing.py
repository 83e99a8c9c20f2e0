"""An invoice's figures add up to the last digit, whatever its lines, credit and wallet."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.billing.invoices.arithmetic import compute_totals, divided
from ipucloud.kernel.money import rounded

decimal_places = st.sampled_from([0, 2, 3])
costs = st.decimals(Decimal("-50"), Decimal("5000"), places=10)
balances = st.decimals(Decimal("0"), Decimal("6000"), places=4)
rates = st.sampled_from([Decimal("0"), Decimal("0.03"), Decimal("0.17"), Decimal("0.21")])
Lines = list[tuple[Decimal, Decimal]]
lines = st.lists(st.tuples(costs, rates), max_size=12)


@given(lines, balances, balances, decimal_places)
def test_the_exported_rows_sum_to_the_payable_total(costs: Lines, promo: Decimal, wallet: Decimal, places: int) -> None:
    invoice = compute_totals(costs, places=places, promo=promo, wallet=wallet)
    assert sum(cost for cost, _ in costs) + invoice.adjustment - invoice.promo_applied + invoice.tax == invoice.total
    assert invoice.total == invoice.subtotal - invoice.promo_applied + invoice.tax
    assert invoice.cost + invoice.adjustment == invoice.subtotal
    assert invoice.due == invoice.total - invoice.wallet_applied


@given(lines, balances, balances, decimal_places)
def test_credit_and_wallet_can_be_paid_and_are_never_more_than_there_is_to_pay(
    costs: Lines, promo: Decimal, wallet: Decimal, places: int
) -> None:
    invoice = compute_totals(costs, places=places, promo=promo, wallet=wallet)
    assert 0 <= invoice.promo_applied <= min(promo, max(invoice.subtotal, Decimal(0)))
    assert min(invoice.total, Decimal(0)) <= invoice.wallet_applied <= min(wallet, max(invoice.total, Decimal(0)))
    assert invoice.due >= 0
    for amount in (invoice.promo_applied, invoice.wallet_applied, invoice.due, invoice.total):
        assert amount == rounded(amount, places)


@given(lines, balances, decimal_places)
def test_the_tax_of_a_rate_is_rounded_once_on_the_rest_of_its_lines(costs: Lines, promo: Decimal, places: int) -> None:
    invoice = compute_totals(costs, places=places, promo=promo)
    assert invoice.subtotal == sum(rounded(cost, places) for cost, _ in costs)
    assert [each.rate for each in invoice.taxes] == list(dict.fromkeys(rate for _, rate in costs))
    assert sum(each.taxable for each in invoice.taxes) == invoice.taxable
    assert invoice.tax == sum(each.tax for each in invoice.taxes)
    for each in invoice.taxes:
        assert each.taxable == rounded(each.taxable, places)
        assert abs(each.tax - each.taxable * each.rate) <= Decimal(5).scaleb(-places - 1)


@given(st.lists(st.integers(-500, 5000), max_size=6), st.integers(0, 100), decimal_places)
def test_what_is_divided_leaves_no_rest_and_exceeds_no_share(shares: list[int], percent: int, places: int) -> None:
    """Each part is within one smallest amount of its exact proportion."""
    whole = sum(max(share, 0) for share in shares)
    amount = whole * percent // 100
    keyed = {Decimal(place): Decimal(share).scaleb(-places) for place, share in enumerate(shares)}
    parts = divided(Decimal(amount).scaleb(-places), keyed, places)
    assert sum(parts.values()) == Decimal(amount).scaleb(-places)
    for place, share in enumerate(shares):
        part = parts[Decimal(place)].scaleb(places)
        assert 0 <= part <= max(share, 0)
        assert not whole or abs(part * whole - amount * max(share, 0)) <= whole


def test_a_correction_larger_than_the_usage_is_put_into_the_wallet() -> None:
    invoice = compute_totals([(Decimal("-3.50"), Decimal(0))], places=2, promo=Decimal(5), wallet=Decimal(5))
    assert (invoice.total, invoice.wallet_applied) == (Decimal("-3.50"), Decimal("-3.50"))
    assert invoice.due == invoice.promo_applied == 0


@pytest.mark.parametrize(
    ("cost", "rate", "places", "subtotal", "tax", "total", "adjustment"),
    [
        pytest.param(11 * Decimal("0.095"), "0.17", 2, "1.05", "0.18", "1.23", "0.005", id="half a cent from zero"),
        pytest.param(28 * Decimal("1.2345"), "0.10", 0, "35", "4", "39", "0.434", id="yen"),
        pytest.param(7 * Decimal("0.0123"), "0", 3, "0.086", "0", "0.086", "-0.0001", id="Kuwaiti dinar"),
    ],
)
def test_a_worked_example(
    cost: Decimal, rate: str, places: int, *, subtotal: str, tax: str, total: str, adjustment: str
) -> None:
    invoice = compute_totals([(cost, Decimal(rate))], places=places)
    figures = (invoice.subtotal, invoice.tax, invoice.total, invoice.adjustment)
    assert figures == tuple(map(Decimal, (subtotal, tax, total, adjustment)))


def test_a_worked_example_with_credit_wallet_and_tax() -> None:
    costs = [(Decimal("18.1234"), Decimal("0.17"))]
    invoice = compute_totals(costs, places=2, promo=Decimal("10.00"), wallet=Decimal("5.00"))
    assert (invoice.subtotal, invoice.adjustment) == (Decimal("18.12"), Decimal("-0.0034"))
    assert (invoice.taxable, invoice.tax, invoice.total) == (Decimal("8.12"), Decimal("1.38"), Decimal("9.50"))
    assert (invoice.wallet_applied, invoice.due) == (Decimal("5.00"), Decimal("4.50"))
