"""Payments that are taken back after they came in: refunded by a provider, or disputed.

A reversal is a payment of its own, out of the wallet, which it takes below zero if the money was spent: nothing that
was posted changes. Like every payment it has a reference, under which it is recorded once.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.payer import lock_payer, platform
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.contract.event_types.money import PAYMENT_REVERSED
from ipucloud.db.documents import clauses, money
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import RECORD_FOR_ACCOUNT
from ipucloud.kernel.errors import STATE_CONFLICT, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money

KIND = "payment_reversed"
"""The only transfers that may overdraw a wallet (`ledger.functions.APPLY_TRANSFERS`)."""


class Reversed(NamedTuple):
    """A reversal; `automatic`: of a top-up that the account's policy requested."""

    id: UUID
    reference: str
    automatic: bool


class _Payment(NamedTuple):
    reference: str
    direction: str
    state: str
    amount: Decimal
    currency: str
    automatic: bool
    reversed: Decimal


class _Found(NamedTuple):
    amount: Decimal
    currency: str
    taken: bool


class _Known(NamedTuple):
    id: UUID
    amount: Decimal
    reverses: UUID | None


_PAYMENT = Query(
    """
    SELECT p.reference, p.direction, p.state, p.amount, p.currency, p.automatic,
           coalesce((SELECT sum(r.amount) FROM payments r WHERE r.reverses = p.id), 0) AS reversed
      FROM payments p WHERE p.account_id = :account_id AND p.id = :id
    """,
    _Payment,
)
_KNOWN = Query(
    "SELECT id, amount, reverses FROM payments WHERE account_id = :account_id AND reference = :reference", _Known
)
_RECORD = sa.text(
    clauses(
        """
        WITH reversal AS (
          INSERT INTO payments (id, account_id, currency, direction, amount, reference, reverses, to_wallet, state,
                                finished_at)
          VALUES (:id, :account_id, :currency, 'out', :amount, :reference, :reverses, -CAST(:amount AS numeric), 'done',
                  app_now())
          RETURNING *
        )
        """,
        RECORD_FOR_ACCOUNT,
        f"""
        SELECT NULL, account_id, :type, 'payment', id,
               jsonb_build_object('reference', reference, 'payment', reverses, 'amount', {money("amount", "currency")})
          FROM reversal
        """,  # noqa: S608  # our own text
    )
)


async def reverse_payment(
    connection: AsyncConnection, account_id: UUID, payment_id: UUID, amount: Money, *, reference: str
) -> Reversed:
    """Take a payment, or a part of it, out of the wallet again. Safe to repeat with the same reference.

    Raises `Problem` not_found, and state_conflict for a payment that has not come in, more than it brought, another
    currency, or the reference of another payment.
    """
    payer = await lock_payer(connection, account_id)
    payment = await _PAYMENT.one_or_none(connection, {"account_id": account_id, "id": payment_id})
    if payment is None:
        raise not_found()
    known = await _KNOWN.one_or_none(connection, {"account_id": account_id, "reference": reference})
    if known is not None:
        if (known.reverses, known.amount, payment.currency) == (payment_id, amount.amount, amount.currency):
            return Reversed(known.id, payment.reference, payment.automatic)
        raise Problem(STATE_CONFLICT, f"Another payment has the reference {reference}. Use a unique one.")
    _refuse(payment, amount)
    reversal = new_id()
    values = {"id": reversal, "account_id": account_id, "currency": amount.currency, "amount": amount.amount}
    told = {"reference": reference, "reverses": payment_id, "type": PAYMENT_REVERSED.name}
    await connection.execute(_RECORD, values | told)
    debit, credit = payer.side("wallet", amount.currency), platform("cash", amount.currency)
    await post(connection, [Move(f"payment/{reversal}/out", KIND, debit, credit, amount.amount)])
    return Reversed(reversal, payment.reference, payment.automatic)


def _refuse(payment: _Payment, amount: Money) -> None:
    if (payment.direction, payment.state) != ("in", "done"):
        raise Problem(STATE_CONFLICT, f"{payment.reference} is no payment that came in. Only those are reversed.")
    if payment.currency != amount.currency:
        raise Problem(
            STATE_CONFLICT, f"{payment.reference} is in {payment.currency}: a reversal is in the same currency."
        )
    rest = payment.amount - payment.reversed
    if amount.amount > rest:
        most = Money.of(rest, payment.currency)
        raise Problem(STATE_CONFLICT, f"{most} of {payment.reference} is not reversed yet: reverse at most that.")


_FOUND = Query(
    """
    SELECT f.amount, p.currency, f.taken FROM found_reversals f JOIN payments p ON p.id = f.payment_id
     WHERE f.id = :reversal AND f.payment_id = :payment_id
    """,
    _Found,
)


async def taken_back(connection: Statements, payment_id: UUID, reversal: str) -> Money | None:
    """What Stripe took back of the payment under this id; None if it has told of no such thing.

    Raises `Problem` state_conflict if Stripe has given it back since.
    """
    found = await _FOUND.one_or_none(connection, {"payment_id": payment_id, "reversal": reversal})
    if found is not None and not found.taken:
        raise Problem(
            STATE_CONFLICT, f"Stripe no longer has the money of {reversal}: it is with the service. Reverse nothing."
        )
    return None if found is None else Money.of(found.amount, found.currency)
