"""What an invoice of today's usage takes into account besides: tax and promotional credit."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.invoices.computing import TaxUnknown, tax_of
from ipucloud.billing.invoices.numbers import today
from ipucloud.billing.invoices.payer import balance, read_payer
from ipucloud.billing.invoices.seller import seller_document
from ipucloud.billing.invoices.tax import Tax
from ipucloud.contract.invoices import SellerOut
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money


class Expected(NamedTuple):
    """`tax` is None if the account's country has no rate."""

    tax: Tax | None
    credit: Money


async def expected(connection: Statements, account_id: UUID, *, currency: str) -> Expected:
    """The account's tax and remaining promotional credit. Raises `Problem` not_found."""
    payer = await read_payer(connection, account_id)
    document, _ = await seller_document(connection)
    seller = SellerOut.model_validate_json(document)
    try:
        tax = await tax_of(connection, payer, seller.country, await today(connection))
    except TaxUnknown:
        tax = None
    return Expected(tax, Money.of(await balance(connection, payer, "promo", currency), currency))
