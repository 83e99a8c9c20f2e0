"""Collecting automatic top-ups through Stripe: each is charged once, however often its outcome is unknown.

What Stripe is asked is written down before it is asked, with the idempotency key, and never changes: so a repeated
request is the same one to Stripe, which answers it with what it did the first time. Stripe forgets keys after a day;
from then on the charge is only looked up, and one that is not found has failed. A charge that has failed is cancelled
at Stripe before it is reported, so that nobody can pay it afterwards.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog

from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.billing.invoices.payment_port import Collected, PaymentRefusedError, PendingPayment
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.extras.stripe.client import (
    AmountRefusedError,
    Charge,
    Intent,
    StripeClient,
    StripeError,
    StripeRefusedError,
    smallest_units,
)
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id

log = structlog.get_logger(__name__)

KEY_HOURS = 23
"""How long a request is repeated; Stripe keeps the answer of a key for at least 24 hours."""
GIVEN_UP_HOURS = 25
"""After which a charge that is not found was never made: no request for it can still be under way."""
_NOT_MADE = "Stripe has no record of the payment."


class _Kept(NamedTuple):
    """A charge as it was written down. `repeats`: it may be asked for again; `given_up`: it cannot be made any more."""

    payment_id: UUID
    idempotency_key: UUID
    customer: str
    payment_method: str
    amount: int
    currency: str
    intent: str | None
    since: int
    repeats: bool
    given_up: bool

    def charge(self, reference: str) -> Charge:
        return Charge(
            self.payment_id,
            reference,
            self.idempotency_key,
            self.customer,
            self.payment_method,
            self.amount,
            self.currency,
            self.since,
        )


# A day back, so that a difference between the two clocks hides nothing.
_KEPT = Query(
    """
    SELECT payment_id, idempotency_key, customer, payment_method, amount, currency, intent,
           extract(epoch FROM created_at - interval '1 day')::bigint AS since,
           created_at > app_now() - make_interval(hours => :key_hours) AS repeats,
           created_at <= app_now() - make_interval(hours => :given_up_hours) AS given_up
      FROM payment_charges WHERE payment_id = :payment_id
    """,
    _Kept,
)
# Nothing for an account without a payment method, or for a payment that has ended meanwhile.
_KEEP = sa.text(
    """
    INSERT INTO payment_charges (payment_id, idempotency_key, customer, payment_method, amount, currency)
    SELECT p.id, :idempotency_key, m.customer, m.payment_method, :amount, p.currency
      FROM payments p JOIN payment_methods m ON m.account_id = p.account_id
     WHERE p.id = :payment_id AND p.finished_at IS NULL
    ON CONFLICT (payment_id) DO NOTHING
    """
)
_METHOD = Query("SELECT EXISTS (SELECT FROM payment_methods WHERE account_id = :account_id)", bool)
_NAMED = sa.text(
    "UPDATE payment_charges SET intent = :intent WHERE payment_id = :payment_id AND intent IS DISTINCT FROM :intent"
).bindparams(sa.bindparam("intent", type_=sa.Text))


class StripePayments:
    """`PaymentPort`: top-ups of accounts that have a payment method; others are unknown until an operator says."""

    def __init__(self, database: Database, client: StripeClient) -> None:
        self._database = database
        self._client = client

    async def collect(self, payment: PendingPayment) -> Collected:
        """Raises `PaymentRefusedError`."""
        if not payment.automatic:
            return Collected.UNKNOWN
        kept = await self._kept(payment)
        if kept is None:
            return Collected.UNKNOWN
        try:
            return await self._request(kept, payment)
        except (StripeError, StripeRefusedError) as error:
            log.warning("stripe_unknown", payment=str(payment.id), error=str(error))
            return Collected.UNKNOWN

    async def _kept(self, payment: PendingPayment) -> _Kept | None:
        """What Stripe is asked for the payment; None: nothing, for want of a payment method."""
        parameters = {"payment_id": payment.id, "key_hours": KEY_HOURS, "given_up_hours": GIVEN_UP_HOURS}
        async with self._database.read() as connection:
            kept = await _KEPT.one_or_none(connection, parameters)
            saved = kept is not None or await _METHOD.one(connection, {"account_id": payment.account_id})
        if kept is not None or not saved:
            return kept
        try:
            amount = smallest_units(payment.money)
        except AmountRefusedError as refused:
            raise PaymentRefusedError(str(refused)) from None
        async with self._database.begin() as transaction:
            # The lock keeps an operator from recording meanwhile that the payment has failed.
            await lock_payer(transaction, payment.account_id)
            values = {"payment_id": payment.id, "idempotency_key": new_id(), "amount": amount}
            await transaction.execute(_KEEP, values)
            failpoint("stripe.before_charge_commit")
            return await _KEPT.one_or_none(transaction, parameters)

    async def _request(self, kept: _Kept, payment: PendingPayment) -> Collected:
        charge = kept.charge(payment.reference)
        if kept.intent is not None:
            return await self._judge(kept, await self._client.retrieve(kept.intent))
        if kept.repeats:
            return await self._created(kept, charge)
        intent = await self._client.find(charge)
        if intent is not None:
            return await self._judge(kept, intent)
        if kept.given_up:
            raise PaymentRefusedError(_NOT_MADE)
        return Collected.UNKNOWN

    async def _created(self, kept: _Kept, charge: Charge) -> Collected:
        try:
            intent = await self._client.create(charge)
            failpoint("stripe.after_answer")
        except StripeRefusedError as refused:
            # An earlier request for the same charge may have been carried out, although this one was refused.
            existing = refused.intent or await self._client.find(charge)
            if existing is None and refused.kind == "invalid_request_error":
                raise PaymentRefusedError(_refusal(refused.detail)) from None
            if existing is None:
                raise
            intent = existing
        return await self._judge(kept, intent)

    async def _judge(self, kept: _Kept, intent: Intent) -> Collected:
        await self._note(kept, intent.id)
        if intent.status not in {"succeeded", "processing", "canceled"}:
            why = intent.failure
            intent = await self._client.cancel(intent.id)
            intent = intent if intent.failure or why is None else _because(intent, why)
        if intent.status == "canceled":
            raise PaymentRefusedError(_refusal(intent.failure or "It was canceled."))
        if intent.status != "succeeded":
            return Collected.UNKNOWN
        if (intent.received, intent.currency) != (kept.amount, kept.currency):
            log.error("stripe_collected_otherwise", payment=str(kept.payment_id), intent=intent.id)
            return Collected.UNKNOWN
        return Collected.DONE

    async def _note(self, kept: _Kept, intent: str) -> None:
        if kept.intent != intent:
            async with self._database.begin() as transaction:
                await transaction.execute(_NAMED, {"payment_id": kept.payment_id, "intent": intent})


def _because(intent: Intent, why: str) -> Intent:
    return Intent(intent.id, intent.status, intent.received, intent.currency, intent.payment, why)


def _refusal(why: str) -> str:
    return f"Stripe refused it: {why}"
