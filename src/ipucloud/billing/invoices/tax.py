"""Tax rules of invoices. Pure.

1. An exempt account pays none.
2. A business of another country than the seller's, with a tax id of its country, accounts for the tax itself: reverse
   charge, rate 0. Only the format of a tax id is checked: the country's prefix and 2 to 12 letters and digits.
3. Any other account pays the standard rate of its country in force on the day of use, in UTC: the time of supply. The
   day of the invoice does not matter. An account without a country is in the seller's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

STANDARD_KIND = "standard"
_PREFIXES = {"GR": "EL"}
"""Countries whose tax ids do not begin with the country's code."""
_SEPARATORS = re.compile(r"[\s.\-/]")
_REST = r"[A-Z0-9]{2,12}"


Treatment: TypeAlias = Literal["standard", "reverse_charge", "exempt"]
SENTENCES: Mapping[Treatment, str] = {
    "reverse_charge": "Reverse charge: VAT is to be accounted for by the recipient of the service.",
    "exempt": "The recipient is exempt from VAT.",
}
"""Remarks on invoices without tax."""


@dataclass(frozen=True, slots=True)
class Taxpayer:
    """An account's data for tax: `country` (ISO 3166, two letters) and `tax_id` may be missing."""

    country: str | None
    tax_id: str | None
    exempt: bool


@dataclass(frozen=True, slots=True)
class Tax:
    """The tax of a day's usage; `name` is printed next to the rate."""

    treatment: Treatment
    name: str
    rate: Decimal


def treatment_of(customer: Taxpayer, seller_country: str) -> Treatment:
    if customer.exempt:
        return "exempt"
    country = customer.country or seller_country
    if country != seller_country and is_tax_id(customer.tax_id, country):
        return "reverse_charge"
    return "standard"


def is_tax_id(tax_id: str | None, country: str) -> bool:
    """Whether it has the form of a tax id of the country, such as `DE123456789`."""
    plain = _SEPARATORS.sub("", tax_id or "").upper()
    return re.fullmatch(_PREFIXES.get(country, country) + _REST, plain, re.ASCII) is not None
