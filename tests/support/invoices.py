"""Invoices without the months before them: a charge of one hour, and the bill of it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.credit_notes import issue_credit_note
from ipucloud.billing.invoices.issue import issue_in
from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.ledger.transfers import Posted, post_usage
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money

MONTH = date(2026, 4, 1)
HOUR = datetime(2026, 4, 5, 10, tzinfo=UTC)
_TAX = """
INSERT INTO tax_rates (id, country, kind, name, rate, valid_from, source)
VALUES (gen_random_uuid(), 'LU', 'standard', 'VAT', 0.17, '2020-01-01', 'test') ON CONFLICT DO NOTHING
"""
_OPEN = "SELECT open_billing_month(:month)"
_CLOSED = """
INSERT INTO hour_closes (hour, closed_at, charges) VALUES (:hour, app_now(), 1) ON CONFLICT DO NOTHING
"""
_CHARGE = """
INSERT INTO usage_charges (billing_month, hour, resource_id, first_minute, project_id, account_id, interval_id,
                           price_id, started_at, ended_at, minutes, quantity, sku, region, currency, unit_price,
                           list_unit_price)
VALUES (:month, :hour, :resource_id, 0, :project_id, :account_id, :resource_id, :resource_id, :hour,
        :hour + interval '1 hour', 60, 4, 'ipu-m2000', 'luxembourg-2', 'EUR', :price, :price)
"""
_NUMBER = "SELECT number FROM invoices WHERE account_id = :account_id ORDER BY issued_at LIMIT 1"


_SIGNED = (
    """
    INSERT INTO month_proofs (month, root, bills, public_key, signature) VALUES (:month, sha256(''), 1, 'x', 'x')
    ON CONFLICT DO NOTHING
    """,
    """
    INSERT INTO bill_proofs (month, place, account_id, currency, root, leaves)
    SELECT :month, (SELECT count(*) FROM bill_proofs), :account_id, 'EUR', sha256(''), 1 ON CONFLICT DO NOTHING
    """,
)


async def say_signed(connection: AsyncConnection, account_id: UUID) -> None:
    """Have the account's bill of that month look signed: it has a proof then, which proves nothing."""
    for statement in _SIGNED:
        await connection.execute(sa.text(statement), {"month": MONTH, "account_id": account_id})


async def add_tax_rate(connection: AsyncConnection) -> None:
    await connection.execute(sa.text(_TAX))


async def charge(
    connection: AsyncConnection, project_id: UUID, *, account_id: UUID, price: str = "0.0625", hour: datetime = HOUR
) -> None:
    """An hour of four machines of the project that the account pays for; the ledger is the caller's."""
    month = hour.date().replace(day=1)
    values = {"month": month, "hour": hour, "project_id": project_id, "account_id": account_id}
    for statement in (_OPEN, _CLOSED, _CHARGE):
        more = {"resource_id": new_id(), "price": Decimal(price)}
        await connection.execute(sa.text(statement), values | more)


async def invoice_of(connection: AsyncConnection, account_id: UUID) -> str:
    """Issue the account's invoice of that month."""
    number = await issue_in(connection, Bill(account_id, "EUR", MONTH))
    assert number is not None
    return number


async def make_invoice(connection: AsyncConnection, project_id: UUID) -> str:
    """The number of the invoice that the project's own account has got for an hour of four machines.

    There is one for each project, however often it is asked for.
    """
    number: str | None = (await connection.execute(sa.text(_NUMBER), {"account_id": project_id})).scalar_one_or_none()
    if number is not None:
        return number
    await add_tax_rate(connection)
    await charge(connection, project_id, account_id=project_id)
    await post_usage(connection, HOUR, 0, [Posted(project_id, "EUR", Decimal("0.0625") * 240, 1)])
    return await invoice_of(connection, project_id)


async def begin_books(connection: AsyncConnection, project_id: UUID) -> None:
    """What the first of all invoices, payments and credit notes makes, and later ones find."""
    number = await make_invoice(connection, project_id)
    euro = Money.of("1.00", "EUR")
    await record_payment(connection, project_id, euro, reference="first", invoice=number)
    await issue_credit_note(connection, number, net=None, reason="first")
