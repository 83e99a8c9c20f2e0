"""Payments that Stripe takes back after they came in: by refunds that somebody makes there, and by disputes.

They are found by asking, as everything at Stripe is, so that no message of Stripe can be lost or forged. Nothing is
moved here: an operator reverses the payment (`billing.invoices.reversals`), and the audit reports it until then.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.contract.event_payloads.base import AmountOfMoney
from ipucloud.contract.event_payloads.money import ReversalFound
from ipucloud.contract.event_types.money import PAYMENT_REVERSAL_FOUND, PAYMENT_REVERSAL_WITHDRAWN
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record_for_account, record_for_operators
from ipucloud.extras.stripe.client import (
    ENDED,
    Reversal,
    StripeClient,
    StripeError,
    StripeRefusedError,
    of_smallest_units,
)
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.money import written

log = structlog.get_logger(__name__)

LOOK_BACK_DAYS = 60
"""How old a refund or dispute may be that is found; workers that are off for longer miss some."""


class _Due(NamedTuple):
    """From when to look, in seconds of Unix time, and the disputes that have not ended."""

    since: int
    open: list[str]


class _Payment(NamedTuple):
    """A payment that came in through Stripe, and what is known of a reversal of it."""

    id: UUID
    account_id: UUID
    reference: str
    currency: str
    status: str | None
    taken: bool | None


# Nothing to ask for where Stripe has collected nothing.
_DUE = Query(
    """
    SELECT extract(epoch FROM app_now() - make_interval(days => :days))::bigint AS since,
           ARRAY(SELECT id FROM found_reversals WHERE status <> ALL(CAST(:ended AS text[])) ORDER BY id) AS open
     WHERE EXISTS (SELECT FROM payment_charges WHERE intent IS NOT NULL)
    """,
    _Due,
)
_PAYMENT = Query(
    """
    SELECT p.id, p.account_id, p.reference, p.currency, f.status, f.taken
      FROM payment_charges c JOIN payments p ON p.id = c.payment_id AND p.state = 'done'
      LEFT JOIN found_reversals f ON f.id = :reversal
     WHERE c.intent = :intent
    """,
    _Payment,
)
_WRITE = sa.text(
    """
    INSERT INTO found_reversals (id, payment_id, amount, status, taken)
    VALUES (:id, :payment_id, :amount, :status, :taken)
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, taken = excluded.taken
    """
)


async def find_reversals(database: Database, client: StripeClient) -> int:
    """Ask Stripe for refunds and disputes; returns how many payments it took back, or gave back, since it was asked."""
    async with database.read() as connection:
        due = await _DUE.one_or_none(connection, {"days": LOOK_BACK_DAYS, "ended": sorted(ENDED)})
    if due is None:
        return 0
    try:
        reversals = await _read(client, due)
    except (StripeError, StripeRefusedError) as error:
        log.warning("stripe_reversals_unread", error=str(error))
        return 0
    changed = 0
    for reversal in reversals:
        async with database.read() as connection:
            payment = await _payment(connection, reversal)
        if payment is not None and _news(payment, reversal):
            async with database.begin() as transaction:
                changed += await _note(transaction, payment.account_id, reversal)
                failpoint("stripe.before_reversal_commit")
    return changed


async def _read(client: StripeClient, due: _Due) -> list[Reversal]:
    """All of the last days, and older disputes that had not ended."""
    recent = [reversal async for reversal in client.reversals(due.since)]
    listed = {reversal.id for reversal in recent}
    return [*recent, *[await client.reversal(each) for each in due.open if each not in listed]]


async def _payment(connection: Statements, reversal: Reversal) -> _Payment | None:
    """The payment that Stripe took back, or a part of it; None: it is not of this service."""
    return await _PAYMENT.one_or_none(connection, {"intent": reversal.intent, "reversal": reversal.id})


def _news(payment: _Payment, reversal: Reversal) -> bool:
    """Whether something is new. What began and ended without taking money, such as an inquiry, is not."""
    return payment.status != reversal.status if payment.taken is not None else reversal.taken


async def _note(connection: AsyncConnection, account_id: UUID, reversal: Reversal) -> bool:
    """Write it down and tell payers and operators; False if the money is where it was."""
    await lock_payer(connection, account_id)
    payment = await _payment(connection, reversal)
    if payment is None or not _news(payment, reversal):
        return False
    if payment.currency != reversal.currency:
        log.error("stripe_reversed_in_other_currency", reversal=reversal.id, payment=str(payment.id))
        return False
    amount = of_smallest_units(reversal.amount, reversal.currency)
    written_down = {"id": reversal.id, "status": reversal.status, "taken": reversal.taken, "payment_id": payment.id}
    await connection.execute(_WRITE, written_down | {"amount": amount.amount})
    if reversal.taken is bool(payment.taken):
        return False
    kind = PAYMENT_REVERSAL_FOUND if reversal.taken else PAYMENT_REVERSAL_WITHDRAWN
    told = AmountOfMoney(amount=written(amount.amount, amount.currency), currency=amount.currency)
    data = ReversalFound(reference=payment.reference, amount=told, reversal=reversal.id, status=reversal.status)
    await record_for_account(connection, kind, account_id=payment.account_id, subject_id=payment.id, data=data)
    await record_for_operators(connection, kind, region=None, subject_id=payment.id, data=data)
    log.warning(kind.name.replace(".", "_"), payment=str(payment.id), reversal=reversal.id, status=reversal.status)
    return True
