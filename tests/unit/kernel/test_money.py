"""Money is exact, is never a float, and rounds only where it says so."""

from __future__ import annotations

from decimal import Decimal, Inexact, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ipucloud.kernel.money import (
    CurrencyMismatchError,
    Money,
    MoneyError,
    exact,
    payable,
    places_of,
    plain,
    product,
    rounded,
    total,
    unit_price,
)

amounts = st.decimals(
    min_value=Decimal("-1e12"), max_value=Decimal("1e12"), places=10, allow_nan=False, allow_infinity=False
)


@pytest.mark.parametrize(
    "value",
    [
        *(0.1, 1.0, True, None, b"1", "NaN", "Infinity", "1e3", "+1", "1,5", "1_000", " 1", "1 ", "", ".5", "5.", "٣"),
        *(Decimal("NaN"), Decimal("Infinity"), Decimal("-Infinity"), Decimal("sNaN")),
    ],
)
def test_what_is_not_an_exact_amount_is_refused(value: object) -> None:
    with pytest.raises(MoneyError):
        exact(value)


@pytest.mark.parametrize(
    ("value", "read"),
    [("12.345678", "12.345678"), (7, "7"), ("-0.0034", "-0.0034"), (Decimal("0.0625"), "0.0625")],
)
def test_exact_keeps_every_digit(value: object, read: str) -> None:
    assert exact(value) == Decimal(read)


@pytest.mark.parametrize("value", ["-0.01", "0.00000000001", 0.0625])
def test_a_price_is_exact_in_ten_places_and_not_negative(value: object) -> None:
    with pytest.raises(MoneyError):
        unit_price(value)


def test_a_price_takes_ten_places() -> None:
    assert unit_price("0.0000000001") == Decimal("1e-10")
    assert unit_price("0.06250000000000") == Decimal("0.0625")


@pytest.mark.parametrize(
    ("amount", "cents"),
    [
        ("1.045", "1.05"),
        ("-1.045", "-1.05"),
        ("1.0449999999", "1.04"),
        ("1.055", "1.06"),
        ("0.005", "0.01"),
        ("-0.005", "-0.01"),
        ("18.1234", "18.12"),
    ],
)
def test_halves_round_away_from_zero(amount: str, cents: str) -> None:
    assert rounded(Decimal(amount), 2) == Decimal(cents)


@pytest.mark.parametrize(("currency", "paid"), [("JPY", "4"), ("EUR", "4.99"), ("KWD", "4.999")])
def test_a_credit_pays_only_what_can_be_paid(currency: str, paid: str) -> None:
    assert payable(Decimal("4.9996"), places_of(currency)) == Decimal(paid)


def test_decimal_places_are_those_of_iso_4217() -> None:
    assert [places_of(code) for code in ("JPY", "EUR", "KWD")] == [0, 2, 3]
    with pytest.raises(MoneyError, match="ZZQ is not the ISO 4217 code"):
        places_of("ZZQ")


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("7.5", "7.50"),
        ("0.0625000000", "0.0625"),
        ("1E+3", "1000.00"),
        ("-0.00", "0.00"),
        ("1e-10", "0.0000000001"),
        ("-0.0034", "-0.0034"),
    ],
)
def test_plain_text_has_no_exponent_and_at_least_two_places(amount: str, text: str) -> None:
    assert plain(Decimal(amount)) == text


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        ("39.00", "JPY", "39"),
        ("-0.434", "JPY", "-0.434"),
        ("0.00", "JPY", "0"),
        ("39", "EUR", "39.00"),
        ("1.5", "KWD", "1.500"),
        ("39", "HRK", "39.00"),
    ],
)
def test_an_amount_is_written_with_the_decimals_of_its_currency(amount: str, currency: str, text: str) -> None:
    """HRK has gone out of use: an amount of it is read, and has two."""
    money = Money.of(amount, currency)
    assert str(money) == f"{text} {currency}"
    assert money.model_dump(mode="json") == {"amount": text, "currency": currency}
    assert money.model_dump() == {"amount": Decimal(amount), "currency": currency}


@given(st.lists(amounts, max_size=50))
def test_a_sum_does_not_depend_on_order_or_on_the_thread_s_decimal_context(values: list[Decimal]) -> None:
    with localcontext() as context:
        context.prec = 3
        assert total(values) == total(reversed(values))
    assert int(total(values) * 10**10) == sum(int(value * 10**10) for value in values)


@given(amounts)
def test_text_round_trips(amount: Decimal) -> None:
    assert exact(plain(amount)) == amount


@given(amounts)
def test_rounding_moves_by_at_most_half_a_unit(amount: Decimal) -> None:
    for places in (0, 2, 3):
        assert abs(rounded(amount, places) - amount) <= Decimal(5).scaleb(-places - 1)
        assert rounded(-amount, places) == -rounded(amount, places)


def test_a_product_raises_rather_than_lose_a_digit() -> None:
    third = Decimal("0." + "3" * 40)
    with pytest.raises(Inexact):
        product(third, third)


def test_the_json_form_is_text() -> None:
    money = Money.of("12.345678", "EUR")
    assert money.model_dump_json() == '{"amount":"12.345678","currency":"EUR"}'
    assert Money.model_validate_json(money.model_dump_json()) == money


@pytest.mark.parametrize(
    "body",
    [
        '{"amount": 12.5, "currency": "EUR"}',
        '{"amount": "1e3", "currency": "EUR"}',
        '{"amount": "1", "currency": "eur"}',
        '{"amount": "1", "currency": "EUR", "cents": 1}',
        '{"amount": true, "currency": "EUR"}',
    ],
)
def test_other_json_is_refused(body: str) -> None:
    with pytest.raises(ValidationError):
        Money.model_validate_json(body)


def test_money_of_one_currency_adds_up_and_of_two_never() -> None:
    bill = Money.of("0.25", "EUR") + Money.of("7.80", "EUR")
    assert bill == Money.of("8.05", "EUR")
    assert bill - Money.of("8.05", "EUR") == Money.of(0, "EUR")
    assert -bill == Money.of("-8.05", "EUR")
    assert Money.of("0.0625", "EUR") * 60 == Money.of("3.75", "EUR")
    assert Money.of("1.045", "EUR").rounded() == Money.of("1.05", "EUR")
    assert str(bill) == "8.05 EUR"
    with pytest.raises(CurrencyMismatchError):
        Money.of(1, "EUR") + Money.of(1, "USD")
