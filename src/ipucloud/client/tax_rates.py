"""Calls for tax rates; all need a platform token."""

from __future__ import annotations

from datetime import date

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import Page, TaxRate


def list() -> Call[Page[TaxRate]]:
    """All past, current and future rates, by country."""
    return request.get("billing/tax-rates", Page[TaxRate], scoped=False)


def create(
    country: str, rate: str, *, valid_from: date, source: str, name: str = "VAT", kind: str = "standard"
) -> Call[Page[TaxRate]]:
    """Add a rate (0.17 is 17 %), which replaces the one in force from `valid_from` on; answers all rates."""
    body = {"country": country, "rate": rate, "valid_from": valid_from, "source": source, "name": name, "kind": kind}
    return request.post("billing/tax-rates", Page[TaxRate], body, scoped=False)
