"""What an invoice says, before it has a number: lines, credit, tax by time of supply, and the wallet's part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.invoices.arithmetic import InvoiceTotals, compute_totals
from ipucloud.billing.invoices.credits import Burned, burn, usable
from ipucloud.billing.invoices.line_facts import Corrected, PriceTerm, corrected, credited, price_terms
from ipucloud.billing.invoices.lines import Bill, Line, drafted_lines
from ipucloud.billing.invoices.numbers import TODAY, today
from ipucloud.billing.invoices.payer import BALANCE, Payer, balance, platform, read_payer
from ipucloud.billing.invoices.posting import Move
from ipucloud.billing.invoices.seller import SELLER, rate_on, seller_document
from ipucloud.billing.invoices.tax import Tax, Taxpayer, Treatment, treatment_of
from ipucloud.contract.invoices import InvoiceCreditOut, SellerOut
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money, places_of, total


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


NO_TAX = "VAT"


class _Terms(NamedTuple):
    seller: str
    day: date
    wallet: Decimal
    has_credits: bool


_TERMS = Query(
    clauses(
        *("SELECT", SELLER, "AS seller,", TODAY, "AS day, (", BALANCE, ") AS wallet,"),
        "EXISTS (SELECT FROM promo_credits WHERE account_id = :account_id) AS has_credits FROM sellers",
    ),
    _Terms,
)


class TaxUnknown(Exception):
    """The country has no tax rate; the invoice is delayed until one is added."""


@dataclass(frozen=True, slots=True)
class Computed:
    """An invoice before it has a number. `taxes` are those of the lines' first days; `corrected` by a line's place."""

    bill: Bill
    payer: Payer
    seller: SellerOut
    lines: Sequence[Line]
    credits: Sequence[InvoiceCreditOut]
    burned: Sequence[Burned]
    totals: InvoiceTotals
    treatment: Treatment
    taxes: Mapping[date, Tax]
    corrected: Mapping[int, Corrected]
    price_terms: Mapping[UUID, PriceTerm]
    day: date

    @property
    def gives_back(self) -> bool:
        """Whether it is a credit note: its total is below zero."""
        return self.totals.total < 0

    def tax_of(self, line: Line) -> Tax:
        return self.taxes[line.since]

    def tax_name(self, rate: Decimal) -> str:
        """What the tax of this rate is called on the document."""
        return next((tax.name for tax in self.taxes.values() if tax.rate == rate), NO_TAX)


async def compute(connection: Statements, bill: Bill, payer: Payer, lines: Sequence[Line] | None = None) -> Computed:
    """The invoice as it is now. Raises TaxUnknown."""
    if lines is None:
        lines = await drafted_lines(connection, bill)
    held = {"account_id": payer.id, "code": "wallet", "currency": bill.currency}
    document, day, wallet, has_credits = await _TERMS.one(connection, held)
    seller = SellerOut.model_validate_json(document)
    taxes = {since: await tax_of(connection, payer, seller.country, since) for since in {each.since for each in lines}}
    lines = _joined(lines, taxes)
    # Planning that statement takes longer than all others but the lines'; most accounts have no credit.
    granted = await usable(connection, bill) if has_credits else ()
    burned = burn(granted, total(line.amount for line in lines), places_of(bill.currency))
    totals = compute_totals(
        [(line.cost, taxes[line.since].rate) for line in lines],
        places=places_of(bill.currency),
        promo=total(each.amount for each in burned),
        wallet=wallet,
    )
    without = await credited(connection, bill) if any(line.credited_machine_minutes for line in lines) else ()
    treatment = treatment_of(_taxpayer(payer), seller.country)
    before = await corrected(connection, bill, lines)
    terms = await price_terms(connection, lines)
    return Computed(bill, payer, seller, lines, without, burned, totals, treatment, taxes, before, terms, day)


async def tax_of(connection: Statements, payer: Payer, seller_country: str, day: date) -> Tax:
    """The tax of what the account uses on this day. Raises TaxUnknown."""
    treatment = treatment_of(_taxpayer(payer), seller_country)
    if treatment != "standard":
        return Tax(treatment, NO_TAX, Decimal(0))
    country = payer.country or seller_country
    rate = await rate_on(connection, country, day)
    if rate is None:
        raise TaxUnknown(f"no standard tax rate of {country} in force on {day}")
    return Tax(treatment, *rate)


def moves_of(invoice_id: UUID, computed: Computed) -> list[Move]:
    """Transfers of an invoice: usage from unbilled to receivable, and all changes of receivable."""
    totals, currency = computed.totals, computed.bill.currency
    receivable = computed.payer.side("receivable", currency)
    others = {
        "rounding": (totals.adjustment, receivable, platform("rounding", currency)),
        "promo": (totals.promo_applied, computed.payer.side("promo", currency), receivable),
        "tax": (totals.tax, receivable, platform("tax", currency)),
        "wallet": (totals.wallet_applied, computed.payer.side("wallet", currency), receivable),
        "usage": (totals.cost, receivable, computed.payer.side("unbilled", currency)),
    }
    return [
        Move(f"invoice/{invoice_id}/{name}", f"invoice_{name}", debit, credit, amount)
        for name, (amount, debit, credit) in others.items()
    ]


def _taxpayer(payer: Payer) -> Taxpayer:
    return Taxpayer(payer.country, payer.tax_id, payer.tax_exempt)


def _joined(lines: Sequence[Line], taxes: Mapping[date, Tax]) -> list[Line]:
    """One line again of what was divided where only another country's rate changed."""
    joined: list[Line] = []
    for line in lines:
        if joined and line.continues(joined[-1]) and taxes[line.since] == taxes[joined[-1].since]:
            joined[-1] = line.after(joined[-1])
        else:
            joined.append(line)
    return joined
