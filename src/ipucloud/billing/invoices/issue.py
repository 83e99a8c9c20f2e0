"""Issues invoices: once a month is sealed, one transaction for each account and currency with charges.

An invoice is a function of sealed charges, the account, the seller and the tax rates of the day. A second worker finds
it; a killed one leaves nothing, not even a number. A completely invoiced month is recorded and not checked again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.arithmetic import InvoiceTotals, settle
from ipucloud.billing.invoices.credited import credited
from ipucloud.billing.invoices.credits import Burned, burn, usable, write_burned
from ipucloud.billing.invoices.document import invoice_document, written
from ipucloud.billing.invoices.lines import Bill, Line, lines_of, lines_of_many
from ipucloud.billing.invoices.numbers import Number, next_number, today
from ipucloud.billing.invoices.payer import Payer, balance, lock_payer, platform
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.billing.invoices.seller import seller_document
from ipucloud.billing.invoices.tables import INVOICE_SERIES
from ipucloud.billing.invoices.tax import Tax, Taxpayer, treatment_of
from ipucloud.billing.invoices.tax_rates import rate_on
from ipucloud.contract.event_payloads import InvoiceNumbered
from ipucloud.contract.event_types import INVOICE_ISSUED
from ipucloud.contract.invoices import InvoiceCreditOut, InvoiceOut, SellerOut
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import total

log = structlog.get_logger(__name__)

ACCOUNTS_AT_ONCE = 10_000
"""Accounts whose charges are read in one pass over the month; memory does not grow with how many there are."""
NO_TAX = "VAT"

_MONTHS = Query(
    """
    SELECT month FROM billing_months b
     WHERE sealed_at IS NOT NULL AND NOT EXISTS (SELECT FROM invoiced_months i WHERE i.month = b.month)
     ORDER BY month
    """,
    date,
)


class _Account(NamedTuple):
    owner_id: UUID
    currency: str


# Whoever used anything has an account `unbilled`. LATERAL and LIMIT have the index of charges by account asked once for
# each, whatever the planner thinks of reading the whole month instead.
_ACCOUNTS = Query(
    """
    SELECT owner_id, currency
      FROM ledger_accounts a
     CROSS JOIN LATERAL (
       SELECT FROM usage_charges c
        WHERE c.billing_month = :month AND c.account_id = a.owner_id AND c.currency = a.currency LIMIT 1) AS used
     WHERE code = 'unbilled'
       AND (owner_id, currency) > (CAST(:behind_account AS uuid), CAST(:behind_currency AS text))
       AND NOT EXISTS (SELECT FROM invoices i
                        WHERE i.account_id = a.owner_id AND i.currency = a.currency AND i.month = :month)
     ORDER BY owner_id, currency LIMIT :limit
    """,
    _Account,
)
_ISSUED = sa.text("SELECT FROM invoices WHERE account_id = :account_id AND currency = :currency AND month = :month")
_DONE = sa.text("INSERT INTO invoiced_months (month) VALUES (:month) ON CONFLICT DO NOTHING")
# A month of an account may be many charges.
_LONG = sa.text("SET LOCAL statement_timeout = '10min'")
_INVOICE = sa.text(
    """
    INSERT INTO invoices (id, account_id, month, currency, series, year, sequence, number, due_on, tax_treatment, cost,
                          subtotal, adjustment, promo_applied, taxable, tax, total, wallet_applied, due, document)
    VALUES (:id, :account_id, :month, :currency, :series, :year, :sequence, :number, :due_on, :tax_treatment, :cost,
            :subtotal, :adjustment, :promo_applied, :taxable, :tax, :total, :wallet_applied, :due,
            CAST(:document AS json))
    """
)
_LINE = sa.text(
    """
    INSERT INTO invoice_lines (invoice_id, line, project_id, sku, region, price_id, unit_price, usage_month, minutes,
                               machine_minutes, credited_machine_minutes, cost, amount, tax_rate)
    VALUES (:invoice_id, :line, :project_id, :sku, :region, :price_id, :unit_price, :usage_month, :minutes,
            :machine_minutes, :credited_machine_minutes, :cost, :amount, :tax_rate)
    """
)
_TAX = sa.text(
    """
    INSERT INTO invoice_taxes (invoice_id, rate, name, taxable, tax)
    VALUES (:invoice_id, :rate, :name, :taxable, :tax)
    """
)


class TaxUnknown(Exception):
    """The country has no tax rate; the invoice is delayed until one is added."""


@dataclass(frozen=True, slots=True)
class Computed:
    """An invoice before it has a number."""

    bill: Bill
    payer: Payer
    seller: SellerOut
    lines: Sequence[Line]
    credits: Sequence[InvoiceCreditOut]
    burned: Sequence[Burned]
    totals: InvoiceTotals
    tax: Tax
    day: date

    def document(self, number: Number | None) -> InvoiceOut:
        return invoice_document(
            self.bill,
            self.lines,
            self.totals,
            self.tax,
            number=None if number is None else str(number),
            issued_on=self.day,
            payer=self.payer,
            seller=self.seller,
            credited=self.credits,
        )


async def issue_invoices(database: Database) -> list[str]:
    """Issue due invoices of every sealed month; returns their numbers. Without a tax rate they wait."""
    issued: list[str] = []
    async with database.read() as connection:
        months = await _MONTHS.all(connection)
    for month in months:
        waiting = 0
        async with aclosing(_bills(database, month)) as bills:
            async for bill, lines in bills:
                try:
                    number = await issue(database, bill, lines)
                except TaxUnknown as unknown:
                    waiting += 1
                    log.warning("invoice_waits", account=str(bill.account_id), month=str(month), reason=str(unknown))
                except sa.exc.IntegrityError as error:
                    # An error of one invoice, such as a wallet emptied meanwhile, does not stop the others.
                    waiting += 1
                    kind = type(error.orig).__name__
                    log.error("invoice_refused", account=str(bill.account_id), month=str(month), error=kind)
                else:
                    issued += [] if number is None else [number]
        if not waiting:
            async with database.begin() as transaction:
                await transaction.execute(_DONE, {"month": month})
                failpoint("invoices.before_month_commit")
    return issued


async def issue(database: Database, bill: Bill, lines: Sequence[Line]) -> str | None:
    """Issue the invoice of a sealed month in a transaction of its own; see `issue_in`."""
    async with database.begin() as connection:
        number = await issue_in(connection, bill, lines)
        failpoint("invoices.before_commit")
    failpoint("invoices.committed")
    return number


async def issue_in(connection: AsyncConnection, bill: Bill, lines: Sequence[Line] | None = None) -> str | None:
    """Its number, None when it is there already or nothing cost anything. Raises TaxUnknown.

    `lines`: the bill's lines, if they were read before; charges of a sealed month do not change.
    """
    await connection.execute(_LONG)
    payer = await lock_payer(connection, bill.account_id)
    if (await connection.execute(_ISSUED, bill.values())).first() is not None:
        return None
    computed = await compute(connection, bill, payer, lines)
    if not any(line.cost for line in computed.lines):
        return None
    return str(await _write(connection, computed))


async def compute(connection: Statements, bill: Bill, payer: Payer, lines: Sequence[Line] | None = None) -> Computed:
    """The invoice as it is now. Raises TaxUnknown."""
    if lines is None:
        lines = await lines_of(connection, bill)
    document, _ = await seller_document(connection)
    seller, day = SellerOut.model_validate_json(document), await today(connection)
    tax = await tax_of(connection, payer, seller.country, day)
    burned = burn(await usable(connection, bill), total(line.amount for line in lines))
    totals = settle(
        [line.cost for line in lines],
        tax.rate,
        promo=total(each.amount for each in burned),
        wallet=await balance(connection, payer, "wallet", bill.currency),
    )
    without = await credited(connection, bill) if any(line.credited_machine_minutes for line in lines) else ()
    return Computed(bill, payer, seller, lines, without, burned, totals, tax, day)


async def tax_of(connection: Statements, payer: Payer, seller_country: str, day: date) -> Tax:
    """The tax that the account's invoices of this day have. Raises TaxUnknown."""
    treatment = treatment_of(Taxpayer(payer.country, payer.tax_id, payer.tax_exempt), seller_country)
    if treatment != "standard":
        return Tax(treatment, NO_TAX, Decimal(0))
    country = payer.country or seller_country
    found = await rate_on(connection, country, day)
    if found is None:
        raise TaxUnknown(f"no standard tax rate of {country} in force on {day}")
    return Tax(treatment, *found)


async def _write(connection: AsyncConnection, computed: Computed) -> Number:
    made, bill, totals = new_id(), computed.bill, computed.totals
    await post(connection, moves_of(made, computed))
    number = await next_number(connection, INVOICE_SERIES, computed.day)
    failpoint("invoices.numbered")
    invoice = {
        **bill.values(),
        "id": made,
        "series": number.series,
        "year": number.year,
        "sequence": number.sequence,
        "number": str(number),
        "due_on": computed.day + timedelta(days=computed.payer.payment_days),
        "tax_treatment": computed.tax.treatment,
        "cost": totals.cost,
        "subtotal": totals.subtotal,
        "adjustment": totals.adjustment,
        "promo_applied": totals.promo_applied,
        "taxable": totals.taxable,
        "tax": totals.tax,
        "total": totals.total,
        "wallet_applied": totals.wallet_applied,
        "due": totals.due,
        "document": written(computed.document(number)),
    }
    await connection.execute(_INVOICE, invoice)
    rate = computed.tax.rate
    lines = [
        {**line._asdict(), "invoice_id": made, "line": place, "amount": line.amount, "tax_rate": rate}
        for place, line in enumerate(computed.lines, start=1)
    ]
    await connection.execute(_LINE, lines)
    tax = {"rate": rate, "name": computed.tax.name, "taxable": totals.taxable, "tax": totals.tax}
    await connection.execute(_TAX, tax | {"invoice_id": made})
    await write_burned(connection, made, computed.burned)
    await _tell(connection, made, str(number), computed)
    return number


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


async def _tell(connection: AsyncConnection, invoice_id: UUID, number: str, computed: Computed) -> None:
    """An event for the only project on the invoice; invoices of several projects have none."""
    projects = {line.project_id for line in computed.lines}
    if len(projects) == 1:
        await record(
            connection,
            INVOICE_ISSUED,
            project_id=projects.pop(),
            subject_id=invoice_id,
            data=InvoiceNumbered(number=number),
        )


async def _bills(database: Database, month: date) -> AsyncGenerator[tuple[Bill, Sequence[Line]]]:
    """Accounts with charges in the month and no invoice of it, in order of their ids, and their lines."""
    behind = _Account(UUID(int=0), "")
    while True:
        after = {"behind_account": behind.owner_id, "behind_currency": behind.currency}
        async with database.read() as connection:
            page = await _ACCOUNTS.all(connection, {"month": month, "limit": ACCOUNTS_AT_ONCE, **after})
        if page:
            async with aclosing(lines_of_many(database, month, [row.owner_id for row in page])) as bills:
                async for bill in bills:
                    yield bill
        if len(page) < ACCOUNTS_AT_ONCE:
            return
        behind = page[-1]
