"""Payments of invoices, payments into wallets, and refunds of wallets.

A payment ends once, as done or failed. `PaymentPort` reports whether it is done, failed or unknown, without an open
transaction; a time-out is unknown, and is checked again. Without a provider an operator records payments from a bank
statement: the port then always reports unknown, and `record_payment` completes them. A repeated reference is the same
payment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.payer import Payer, balance, lock_payer, platform
from ipucloud.billing.invoices.payment_port import Collected, PaymentPort, PaymentRefusedError, PendingPayment
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.billing.invoices.settling import pay_open_invoices
from ipucloud.contract.event_types.money import PAYMENT_FAILED, PAYMENT_RECEIVED, PAYMENT_REFUNDED
from ipucloud.contract.lists import Order
from ipucloud.db.documents import DOCUMENT_PAGE, DocumentPage, clauses, money, page_of, rfc3339
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import RECORD_FOR_ACCOUNT
from ipucloud.kernel.errors import NOT_FOUND, STATE_CONFLICT, Problem, not_found
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money

log = structlog.get_logger(__name__)

CALL_SECONDS = 10.0
AT_ONCE = 100
"""Payments checked per turn."""
REFUSED = "The payment provider refused it."
MAX_EXPECTED = 20
"""Payments that an account may announce before one of them ends."""
# For a list that was authorised before it is read.
NOBODY = "WITH principal AS (SELECT NULL AS rights), project AS (SELECT CAST(NULL AS uuid) AS project_id)"


class _Known(NamedTuple):
    """A payment with the reference."""

    id: UUID
    direction: str
    state: str
    amount: Decimal
    currency: str
    invoice_id: UUID | None
    failure: str | None


class _Invoice(NamedTuple):
    id: UUID
    currency: str


_COLUMNS = f"""
json_build_object(
  'id', p.id, 'account_id', p.account_id, 'direction', p.direction, 'amount', {money("p.amount", "p.currency")},
  'reference', p.reference, 'state', p.state, 'automatic', p.automatic, 'failure', p.failure,
  'to_wallet', {money("p.to_wallet", "p.currency")},
  'invoice', (SELECT number FROM invoices i WHERE i.id = p.invoice_id), 'reverses', p.reverses,
  'created_at', {rfc3339("p.created_at")}, 'finished_at', {rfc3339("p.finished_at")})
"""  # noqa: S608  # our own text
_ONE = Query(clauses("SELECT CAST(", _COLUMNS, "AS text) AS document FROM payments p WHERE p.id = :id"), str)
_LISTED = """
WHERE account_id = :account_id
  AND (CAST(:direction AS text) IS NULL OR direction = CAST(:direction AS text))
  AND (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
"""
LIST_PAYMENTS = {
    order: Query(
        clauses(
            NOBODY,
            page_of("payments", order, _LISTED),
            ", documents AS (SELECT place,",
            _COLUMNS,
            "AS document FROM page p)",
            DOCUMENT_PAGE,
        ),
        DocumentPage,
    )
    for order in Order
}
"""An account's payments; parameters `:account_id` and those of `list_parameters` for a `PaymentList`."""
_EXPECTED = Query("SELECT count(*) FROM payments WHERE account_id = :account_id AND finished_at IS NULL", int)
_FIND = Query(
    """
    SELECT id, direction, state, amount, currency, invoice_id, failure FROM payments
     WHERE account_id = :account_id AND reference = :reference
    """,
    _Known,
)
_NAMED = Query("SELECT reference FROM payments WHERE account_id = :account_id AND id = :id", str)
# A provider that was asked says how the payment ends: if a person recorded it first, it could still be collected.
_ASKED = Query(
    """
    SELECT EXISTS (SELECT FROM payment_charges
                    WHERE payment_id = :id AND created_at > app_now() - make_interval(hours => 48))
    """,
    bool,
)
_INSERT = sa.text(
    """
    INSERT INTO payments (id, account_id, currency, direction, amount, reference, invoice_id, automatic, state)
    VALUES (:id, :account_id, :currency, :direction, :amount, :reference, :invoice_id, :automatic, 'pending')
    """
)
# With the event, for the account's payers.
_END = sa.text(
    clauses(
        """
        WITH ended AS (
          UPDATE payments SET state = :state, amount = :amount, invoice_id = coalesce(:invoice_id, invoice_id),
                              to_wallet = :to_wallet, failure = :failure, finished_at = app_now()
           WHERE id = :id RETURNING *
        )
        """,
        RECORD_FOR_ACCOUNT,
        """
        SELECT NULL, account_id, CASE WHEN state = 'failed' THEN CAST(:failed AS text)
                                      WHEN direction = 'out' THEN CAST(:refunded AS text)
                                      ELSE CAST(:received AS text) END,
        """,
        "'payment', id, jsonb_strip_nulls(jsonb_build_object(",
        f"'reference', reference, 'amount', {money('amount', 'currency')}, 'reason', failure)) FROM ended",
    )
)
_EVENTS = {"failed": PAYMENT_FAILED.name, "refunded": PAYMENT_REFUNDED.name, "received": PAYMENT_RECEIVED.name}
_INVOICE = Query("SELECT id, currency FROM invoices WHERE account_id = :account_id AND number = :number", _Invoice)
_OPEN = Query(
    """
    SELECT due - coalesce((SELECT sum(amount) FROM invoice_settlements s WHERE s.invoice_id = i.id), 0)
      FROM invoices i WHERE id = :invoice_id
    """,
    Decimal,
)
_SETTLE = sa.text(
    """
    INSERT INTO invoice_settlements (invoice_id, payment_id, credit_note_id, amount)
    VALUES (:invoice_id, :payment_id, :credit_note_id, :amount)
    """
)
# Growing pauses while the status is unknown: 1, 2, 4, … minutes, up to a day.
_PENDING = Query(
    """
    SELECT id, account_id, reference, amount, currency, automatic FROM payments
     WHERE finished_at IS NULL AND direction = 'in'
       AND (checked_at IS NULL
            OR checked_at + least(make_interval(mins => (2 ^ least(checks, 11))::integer),
                interval '1 day') <= app_now())
     ORDER BY checked_at NULLS FIRST, id LIMIT :limit
    """,
    PendingPayment,
)
_LOOKED = sa.text(
    "UPDATE payments SET checked_at = app_now(), checks = checks + 1 WHERE id = :id AND finished_at IS NULL"
)


async def expect_payment(connection: AsyncConnection, account_id: UUID, amount: Money) -> UUID:
    """Create a pending wallet payment; the customer uses its reference when paying.

    Raises `Problem` state_conflict if too many are pending.
    """
    await lock_payer(connection, account_id)
    if await _EXPECTED.one(connection, {"account_id": account_id}) >= MAX_EXPECTED:
        raise Problem(STATE_CONFLICT, f"{MAX_EXPECTED} payments are expected: pay, or wait for, one of them first.")
    return (await _expect(connection, account_id, amount)).id


async def request_top_up(connection: AsyncConnection, account_id: UUID, amount: Money) -> PendingPayment:
    """Create the account's automatic top-up; `collect_payments` sends it to the provider. The account is locked.

    Raises sqlalchemy.exc.IntegrityError if another one has not ended: it may still bring the money.
    """
    return await _expect(connection, account_id, amount, automatic=True)


async def fail_payment(connection: AsyncConnection, account_id: UUID, payment_id: UUID, *, reason: str) -> None:
    """Record that an expected payment will not come. Safe to repeat.

    Raises `Problem` not_found, and state_conflict for a payment that has come or is a refund.
    """
    await lock_payer(connection, account_id)
    reference = await _NAMED.one_or_none(connection, {"account_id": account_id, "id": payment_id})
    if reference is None:
        raise not_found()
    known = await _FIND.one(connection, {"account_id": account_id, "reference": reference})
    if (known.state, known.failure) == ("failed", reason):
        return
    if known.state != "pending":
        raise Problem(STATE_CONFLICT, f"The payment {reference} has ended: it is {known.state}.")
    if await _ASKED.one(connection, {"id": payment_id}):
        raise Problem(
            STATE_CONFLICT,
            f"The payment provider was asked to collect {reference} and may still do so."
            " It says how the payment ends, within two days: wait for that.",
        )
    amount = Money.of(known.amount, known.currency)
    await _end(connection, payment_id, amount, Decimal(0), state="failed", failure=reason)


async def record_payment(
    connection: AsyncConnection, account_id: UUID, amount: Money, *, reference: str, invoice: str | None
) -> UUID:
    """Record a received payment: it settles the invoice, and any excess is added to the wallet.

    Raises `Problem` not_found for an unknown account or invoice, state_conflict for the reference of another payment.
    """
    payer = await lock_payer(connection, account_id)
    invoice_id = await _invoice(connection, account_id, invoice, amount.currency)
    known = await _FIND.one_or_none(connection, {"account_id": account_id, "reference": reference})
    if known is None:
        payment_id = new_id()
        await _insert(connection, payment_id, account_id, amount, reference, invoice_id=invoice_id)
    else:
        payment_id, same = known.id, (known.direction, known.currency) == ("in", amount.currency)
        if known.state == "done" and same and (known.amount, known.invoice_id) == (amount.amount, invoice_id):
            return payment_id
        if known.state != "pending" or not same:
            raise Problem(STATE_CONFLICT, "Another payment has this reference. Use a unique one.")
    await _come_in(connection, payer, payment_id, amount, invoice_id)
    return payment_id


async def record_refund(connection: AsyncConnection, account_id: UUID, amount: Money, *, reference: str) -> UUID:
    """Record a refund of the wallet to the customer.

    Raises `Problem` not_found, and state_conflict if the wallet has less or the reference is another payment's.
    """
    payer = await lock_payer(connection, account_id)
    known = await _FIND.one_or_none(connection, {"account_id": account_id, "reference": reference})
    if known is not None:
        if (known.direction, known.currency, known.amount) == ("out", amount.currency, amount.amount):
            return known.id
        raise Problem(STATE_CONFLICT, "Another payment has this reference. Use a unique one.")
    held = await balance(connection, payer, "wallet", amount.currency)
    if held < amount.amount:
        most = Money.of(max(held, Decimal(0)), amount.currency)
        raise Problem(STATE_CONFLICT, f"The wallet has {most}: refund at most that.")
    payment_id = new_id()
    await _insert(connection, payment_id, account_id, amount, reference, direction="out")
    debit, credit = payer.side("wallet", amount.currency), platform("cash", amount.currency)
    await post(connection, [Move(f"payment/{payment_id}/out", "refund", debit, credit, amount.amount)])
    await _end(connection, payment_id, amount, -amount.amount)
    return payment_id


async def collect_payments(database: Database, port: PaymentPort, *, patience: float = CALL_SECONDS) -> int:
    """Check every pending payment that is due; returns how many ended."""
    async with database.read() as connection:
        pending = await _PENDING.all(connection, {"limit": AT_ONCE})
    ended = 0
    for payment in pending:
        outcome, failure = await _ask(port, payment, patience)
        async with database.begin() as transaction:
            ended += await _apply(transaction, payment, outcome, failure)
            failpoint("invoices.before_payment_commit")
    return ended


async def payment_document(connection: Statements, payment_id: UUID) -> bytes:
    document = await _ONE.one(connection, {"id": payment_id})
    return document.encode()


async def still_due(connection: AsyncConnection, invoice_id: UUID) -> Decimal:
    """Amount due of an invoice; the caller holds its account's lock."""
    return await _OPEN.one(connection, {"invoice_id": invoice_id})


async def settle_invoice(
    connection: AsyncConnection,
    invoice_id: UUID,
    amount: Decimal,
    *,
    payment_id: UUID | None = None,
    credit_note_id: UUID | None = None,
) -> None:
    """Record that this amount is no longer due."""
    if amount > 0:
        ids = {"invoice_id": invoice_id, "payment_id": payment_id, "credit_note_id": credit_note_id}
        await connection.execute(_SETTLE, ids | {"amount": amount})


async def _ask(port: PaymentPort, payment: PendingPayment, patience: float) -> tuple[Collected, str]:
    """The outcome, and why the payment failed if it did."""
    try:
        async with asyncio.timeout(patience):
            return await port.collect(payment), REFUSED
    except PaymentRefusedError as refused:
        return Collected.FAILED, str(refused)
    except Exception as error:  # noqa: BLE001  # whatever a provider's client raises, the money may have moved
        log.warning("payment_unknown", payment=str(payment.id), error=type(error).__name__)
        return Collected.UNKNOWN, ""


async def _apply(connection: AsyncConnection, payment: PendingPayment, outcome: Collected, failure: str) -> bool:
    payer = await lock_payer(connection, payment.account_id)
    await connection.execute(_LOOKED, {"id": payment.id})
    values = {"account_id": payment.account_id, "reference": payment.reference}
    row = await _FIND.one(connection, values)
    if row.state == "failed" and outcome is Collected.DONE:
        log.error("failed_payment_was_made", payment=str(payment.id), account=str(payment.account_id))
    if row.state != "pending" or outcome is Collected.UNKNOWN:
        return False
    if outcome is Collected.DONE:
        await _come_in(connection, payer, payment.id, payment.money, row.invoice_id)
    else:
        await _end(connection, payment.id, payment.money, Decimal(0), state="failed", failure=failure)
    return True


async def _come_in(
    connection: AsyncConnection, payer: Payer, payment_id: UUID, amount: Money, invoice_id: UUID | None
) -> None:
    due = Decimal(0) if invoice_id is None else await still_due(connection, invoice_id)
    settled = min(amount.amount, due)
    rest, cash = amount.amount - settled, platform("cash", amount.currency)
    if invoice_id is not None:
        await settle_invoice(connection, invoice_id, settled, payment_id=payment_id)
    moves: Sequence[Move] = [
        Move(f"payment/{payment_id}/invoice", "payment", cash, payer.side("receivable", amount.currency), settled),
        Move(f"payment/{payment_id}/wallet", "top_up", cash, payer.side("wallet", amount.currency), rest),
    ]
    await post(connection, moves)
    await _end(connection, payment_id, amount, rest, invoice_id=invoice_id)
    await pay_open_invoices(connection, payer, amount.currency)


async def _invoice(connection: AsyncConnection, account_id: UUID, number: str | None, currency: str) -> UUID | None:
    if number is None:
        return None
    row = await _INVOICE.one_or_none(connection, {"account_id": account_id, "number": number})
    if row is None:
        raise Problem(NOT_FOUND, "The account has no such invoice.")
    if row.currency != currency:
        raise Problem(STATE_CONFLICT, f"The invoice is in {row.currency}: a payment is in the same currency.")
    return row.id


async def _expect(
    connection: AsyncConnection, account_id: UUID, amount: Money, *, automatic: bool = False
) -> PendingPayment:
    payment_id = new_id()
    payment = PendingPayment(
        payment_id, account_id, f"TOP-{payment_id.hex[-12:].upper()}", amount.amount, amount.currency, automatic
    )
    await _insert(connection, payment_id, account_id, amount, payment.reference, automatic=automatic)
    return payment


async def _insert(
    connection: AsyncConnection,
    payment_id: UUID,
    account_id: UUID,
    amount: Money,
    reference: str,
    *,
    direction: str = "in",
    invoice_id: UUID | None = None,
    automatic: bool = False,
) -> None:
    values = {"id": payment_id, "account_id": account_id, "currency": amount.currency, "direction": direction}
    rest = {"amount": amount.amount, "reference": reference, "invoice_id": invoice_id, "automatic": automatic}
    await connection.execute(_INSERT, values | rest)


async def _end(
    connection: AsyncConnection,
    payment_id: UUID,
    amount: Money,
    to_wallet: Decimal,
    *,
    state: str = "done",
    invoice_id: UUID | None = None,
    failure: str | None = None,
) -> None:
    values = {"id": payment_id, "state": state, "amount": amount.amount, "failure": failure, **_EVENTS}
    await connection.execute(_END, values | {"invoice_id": invoice_id, "to_wallet": to_wallet})
