"""Calls for the issuer of invoices; all need a platform token."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.client import call as request
from ipucloud.client.call import Call, given
from ipucloud.client.models import Seller


def get() -> Call[Seller]:
    """The issuer as printed on invoices from now on."""
    return request.get("billing/seller", Seller, scoped=False)


def update(
    *,
    legal_name: str | None = None,
    address: str | None = None,
    country: str | None = None,
    tax_id: str | None = None,
    bank: str | None = None,
    e_invoice: Mapping[str, str] | None = None,
    if_match: str | None = None,
) -> Call[Seller]:
    """Change the given fields, for invoices from now on."""
    body = given(legal_name=legal_name, address=address, country=country, tax_id=tax_id, bank=bank, e_invoice=e_invoice)
    return request.patch("billing/seller", Seller, body, scoped=False, if_match=if_match)
