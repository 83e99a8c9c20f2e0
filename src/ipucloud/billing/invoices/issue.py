"""Issues invoices: once a month is sealed, one transaction for each account and currency with charges.

An invoice is a function of sealed charges, the account, the seller and the tax rates of the days of use. If its total
is below zero, it is a credit note. A second worker finds it; a killed one leaves nothing, not even a number. A
completely invoiced month is recorded and not checked again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import date
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.calculation import Computed, TaxUnknown, compute, moves_of
from ipucloud.billing.invoices.credits import write_burned
from ipucloud.billing.invoices.document import issued_document, written
from ipucloud.billing.invoices.lines import Bill, Line, lines_of_many
from ipucloud.billing.invoices.numbers import Number, next_number, record_issued_credit_note, record_issued_invoice
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.billing.invoices.posting import post
from ipucloud.billing.invoices.settling import Paid, pay_open_invoices
from ipucloud.billing.invoices.tables import CREDIT_NOTE_SERIES, INVOICE_SERIES
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id

log = structlog.get_logger(__name__)

ACCOUNTS_AT_ONCE = 10_000
"""Accounts whose charges are read in one pass over the month; memory does not grow with how many there are."""

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
                               machine_minutes, credited_machine_minutes, cost, amount, tax_rate, since, until,
                               corrects)
    VALUES (:invoice_id, :line, :project_id, :sku, :region, :price_id, :unit_price, :usage_month, :minutes,
            :machine_minutes, :credited_machine_minutes, :cost, :amount, :tax_rate, :since, :until, :corrects)
    """
)
_TAX = sa.text(
    """
    INSERT INTO invoice_taxes (invoice_id, rate, name, taxable, tax)
    VALUES (:invoice_id, :rate, :name, :taxable, :tax)
    """
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


async def _write(connection: AsyncConnection, computed: Computed) -> Number:
    invoice_id, totals = new_id(), computed.totals
    await post(connection, moves_of(invoice_id, computed))
    settled: Sequence[Paid] = ()
    if computed.gives_back:
        first = sorted({each.number for each in computed.corrected.values()})
        settled = await pay_open_invoices(connection, computed.payer, computed.bill.currency, first=first)
    number = await next_number(connection, CREDIT_NOTE_SERIES if computed.gives_back else INVOICE_SERIES, computed.day)
    failpoint("invoices.numbered")
    document = issued_document(computed, str(number), settled)
    invoice = {
        **computed.bill.values(),
        "id": invoice_id,
        "series": number.series,
        "year": number.year,
        "sequence": number.sequence,
        "number": str(number),
        "due_on": document.due_on,
        "tax_treatment": computed.treatment,
        "cost": totals.cost,
        "subtotal": totals.subtotal,
        "adjustment": totals.adjustment,
        "promo_applied": totals.promo_applied,
        "taxable": totals.taxable,
        "tax": totals.tax,
        "total": totals.total,
        "wallet_applied": totals.wallet_applied,
        "due": totals.due,
        "document": written(document),
    }
    await connection.execute(_INVOICE, invoice)
    await connection.execute(_LINE, [_line(invoice_id, computed, place) for place in range(1, len(computed.lines) + 1)])
    taxes = [
        {"invoice_id": invoice_id, "name": computed.tax_name(each.rate), "rate": each.rate, "taxable": each.taxable}
        | {"tax": each.tax}
        for each in totals.taxes
    ]
    await connection.execute(_TAX, taxes)
    await write_burned(connection, invoice_id, computed.burned)
    projects = {line.project_id for line in document.lines or ()}
    if computed.gives_back:
        await record_issued_credit_note(connection, invoice_id, computed.payer.id, projects, document)
    else:
        await record_issued_invoice(connection, invoice_id, computed.payer.id, projects, str(number))
    return number


def _line(invoice_id: UUID, computed: Computed, place: int) -> dict[str, object]:
    line, corrects = computed.lines[place - 1], computed.corrected.get(place)
    return line._asdict() | {
        "invoice_id": invoice_id,
        "line": place,
        "amount": line.amount,
        "tax_rate": computed.tax_of(line).rate,
        "corrects": None if corrects is None else corrects.id,
    }


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
