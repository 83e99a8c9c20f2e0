"""Exact money.

Amounts are `Decimal` and never pass through a float. A price has up to ten places, so an integer of micro-units would
lose digits. Sums and products run in a context that raises instead of rounding; only `rounded` and `payable` drop
digits. How many an amount to pay may have is its currency's matter: `MINOR_UNITS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import (
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
)
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    field_serializer,
)
from pydantic_core import PydanticCustomError

PRICE_PLACES = 10
"""Decimal places of a unit price, and of everything computed from one until an invoice line rounds it."""

UNIT_PRICE_LIMIT = 1_000_000
"""Every unit price is below this, in any currency."""

_MINOR_UNITS = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
    2: """
       AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY
       COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR
       ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
       MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP
       SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER
       ZAR ZMW ZWG
       """,
    3: "BHD IQD JOD KWD LYD OMR TND",
}
MINOR_UNITS = {code: places for places, codes in _MINOR_UNITS.items() for code in codes.split()}
"""Decimal places of amounts to pay in each currency, by its ISO 4217 code: JPY 0, EUR 2, KWD 3. No funds, no metals."""

_DIGITS = 60
_EXACT = Context(prec=_DIGITS, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])
_ROUNDING = Context(prec=_DIGITS, traps=[InvalidOperation, Overflow, DivisionByZero])
_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)


class MoneyError(ValueError):
    """The value cannot be an exact amount."""


class CurrencyMismatchError(ValueError):
    """Two currencies met in one sum."""


def exact(value: object) -> Decimal:
    """`value` as a finite Decimal, to the last digit.

    Takes Decimal, int, or text such as `12.345678`. Raises `MoneyError` for float and bool, for NaN and infinities, and
    for text in any other form (exponents, a plus sign, separators, other scripts' digits).
    """
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise MoneyError("an amount is a finite number")
        return value
    if isinstance(value, bool | float):
        raise MoneyError(f"an amount is never a {type(value).__name__}: write it as text")
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Decimal(value)
    raise MoneyError("an amount is a decimal number written like 12.34")


def unit_price(value: object) -> Decimal:
    """`value` as a price per unit: not negative, at most ten places. Raises `MoneyError`."""
    price = exact(value)
    if price < 0:
        raise MoneyError("a price is not negative")
    if price != rounded(price, PRICE_PLACES):
        raise MoneyError(f"a price has at most {PRICE_PLACES} decimal places")
    return price


def total(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum; 0 of nothing."""
    result = Decimal(0)
    for amount in amounts:
        result = _EXACT.add(result, amount)
    return result


def product(*factors: Decimal | int) -> Decimal:
    """The exact product; raises `decimal.Inexact` rather than lose a digit."""
    result = Decimal(1)
    for factor in factors:
        result = _EXACT.multiply(result, exact(factor))
    return result


def places_of(currency: str) -> int:
    """Decimal places of amounts to pay in the currency. Raises `MoneyError` for a code that is none of ISO 4217."""
    if currency not in MINOR_UNITS:
        raise MoneyError(f"{currency} is not the ISO 4217 code of a currency in use")
    return MINOR_UNITS[currency]


def rounded(amount: Decimal, places: int) -> Decimal:
    """`amount` to `places` decimal places, halves away from zero: 1.045 → 1.05, -1.045 → -1.05."""
    return amount.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP, context=_ROUNDING)


def payable(amount: Decimal, places: int) -> Decimal:
    """The part of `amount` that can be paid, rounded towards minus infinity: what a credit of it can pay."""
    return amount.quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR, context=_ROUNDING)


def plain(amount: Decimal, places: int = 2) -> str:
    """`amount` without an exponent or superfluous zeros, in at least `places`: `7.50`, `0.0625`, `-0.0034`."""
    text = format(amount if amount else Decimal(0), "f")
    units, _, fraction = text.partition(".")
    shown = fraction.rstrip("0").ljust(places, "0")
    return f"{units}.{shown}" if shown else units


def written(amount: Decimal, currency: str) -> str:
    """`amount` to the last digit, in at least the currency's decimal places: `39` JPY, `39.00` EUR, `0.0625` EUR.

    A currency that is out of use has two.
    """
    return plain(amount, MINOR_UNITS.get(currency, 2))


Amount = Annotated[
    Decimal,
    BeforeValidator(exact),
    PlainSerializer(plain, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": r"^-?\d+(\.\d+)?$", "examples": ["12.50"]}),
]
"""A Decimal of a model: read by `exact`, written to JSON by `plain`."""

Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$", description="ISO 4217 code of the currency.", examples=["EUR"])]
"""A code of any currency, such as one of a filter or an answer; requests about money take a `KnownCurrency`."""


def known_currency(code: str) -> str:
    if code not in MINOR_UNITS:
        raise PydanticCustomError(
            "unknown_currency", "{code} is not the ISO 4217 code of a currency in use, such as EUR", {"code": code}
        )
    return code


KnownCurrency = Annotated[Currency, AfterValidator(known_currency)]


class Money(BaseModel):
    """An exact amount in a currency; its JSON form is `{"amount": "12.50", "currency": "EUR"}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    amount: Amount = Field(description="Exact decimal, as text.")
    currency: Currency

    @field_serializer("amount", when_used="json")
    def _written(self, amount: Decimal) -> str:
        return written(amount, self.currency)

    @classmethod
    def of(cls, amount: Decimal | int | str, currency: str) -> Money:
        return cls(amount=exact(amount), currency=currency)

    def __add__(self, other: Money) -> Money:
        return self._with(total((self.amount, self._same_currency(other))))

    def __sub__(self, other: Money) -> Money:
        return self._with(total((self.amount, -self._same_currency(other))))

    def __neg__(self) -> Money:
        return self._with(-self.amount)

    def __mul__(self, factor: Decimal | int) -> Money:
        return self._with(product(self.amount, factor))

    def rounded(self) -> Money:
        """To the currency's decimal places, halves away from zero."""
        return self._with(rounded(self.amount, places_of(self.currency)))

    def __str__(self) -> str:
        return f"{written(self.amount, self.currency)} {self.currency}"

    def _with(self, amount: Decimal) -> Money:
        return Money(amount=amount, currency=self.currency)

    def _same_currency(self, other: Money) -> Decimal:
        if other.currency != self.currency:
            raise CurrencyMismatchError(f"{self.currency} and {other.currency} cannot be added")
        return other.amount
