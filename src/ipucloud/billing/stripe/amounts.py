"""Amounts as Stripe writes them: integers of a currency's smallest unit, by Stripe's own rules.

They differ from ISO 4217: ISK and UGX have no decimals but are sent with two, MGA is sent without any, and the last
digit of a currency with three must be 0 (https://docs.stripe.com/currencies).
"""

from __future__ import annotations

from ipucloud.kernel.money import MINOR_UNITS, Money

_AS_TWO_DECIMALS = frozenset({"ISK", "UGX"})
_WITHOUT_DECIMALS = frozenset({"MGA"})
_THREE_DECIMALS = frozenset({"BHD", "JOD", "KWD", "OMR", "TND"})


class AmountRefusedError(ValueError):
    """Stripe cannot collect the amount; the text says why."""


def smallest_units(money: Money) -> int:
    """The amount in Stripe's units. Raises `AmountRefusedError`: nothing is ever rounded."""
    currency = money.currency
    places = MINOR_UNITS[currency]
    if places == 3 and currency not in _THREE_DECIMALS:
        raise AmountRefusedError(f"Stripe does not collect {currency}.")
    if currency in _AS_TWO_DECIMALS:
        places = 2
    elif currency in _WITHOUT_DECIMALS:
        places = 0
    units = money.amount.scaleb(places)
    step = 10 if currency in _THREE_DECIMALS else 1
    if units % step != 0:
        raise AmountRefusedError(f"Stripe collects {currency} in steps of {_step(places, step)} only.")
    return int(units)


def _step(places: int, step: int) -> str:
    return "1" if places == 0 else f"{step / 10**places:.{places}f}"
