"""Documents and payments of a filled database, made by the product: an invoice with all that may settle it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.dunning.store import set_dunning
from ipucloud.billing.invoices.credit_notes import issue_credit_note
from ipucloud.billing.invoices.credits import grant
from ipucloud.billing.invoices.issue import issue_in
from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.invoices.payments import expect_payment, record_payment
from ipucloud.contract.accounts import DunningPolicy
from ipucloud.idempotency.store import MoneyRequest, keep_money
from ipucloud.kernel.money import Money
from tests.support.invoices import add_tax_rate

_CHARGED = sa.text(
    """
    INSERT INTO payment_charges (payment_id, idempotency_key, customer, payment_method, amount, currency)
    SELECT id, gen_random_uuid(), 'cus_1', 'pm_1', 100, currency FROM payments
     WHERE account_id = :account_id AND finished_at IS NULL
    """
)
_DONE = sa.text("INSERT INTO invoiced_months (month) VALUES (:month)")
_REMINDED = sa.text(
    "INSERT INTO dunning_reminders (invoice_id, days) SELECT id, 1 FROM invoices WHERE number = :number"
)


async def fill_invoices(connection: AsyncConnection, *, account_id: UUID, month: date) -> None:
    """One row at least in each table of the invoices, for an account that used something in the month."""
    await add_tax_rate(connection)
    one = Money.of("1.00", "EUR")
    credit = await grant(connection, account_id, one, reason="welcome", expires_at=datetime(2126, 1, 1, tzinfo=UTC))
    number = await issue_in(connection, Bill(account_id, "EUR", month))
    assert number is not None
    await record_payment(connection, account_id, one, reference="first", invoice=number)
    await expect_payment(connection, account_id, one)
    await connection.execute(_CHARGED, {"account_id": account_id})
    await set_dunning(connection, account_id, DunningPolicy())
    await connection.execute(_REMINDED, {"number": number})
    await issue_credit_note(connection, number, net=Decimal("0.50"), reason="a rack lost power")
    await connection.execute(_DONE, {"month": month})
    await keep_money(connection, account_id, "filled", MoneyRequest(b"\0" * 32, credit_id=credit))
