"""Automatic top-ups of prepaid accounts.

When an account's funds reach its level, a worker requests one payment from the payment port, which collects it like any
other payment (`billing.invoices.payments`): under one reference until it has ended, however often the outcome is
unknown. No other top-up is requested meanwhile. A failed one pauses the policy, and so does a month's limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.accounts.store import record_event
from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.billing.invoices.payments import request_top_up
from ipucloud.billing.prepaid.arithmetic import Standing
from ipucloud.billing.prepaid.funds import Facts, facts_of
from ipucloud.contract.event_payloads.base import AmountOfMoney
from ipucloud.contract.event_payloads.money import TopUpOf, TopUpPaused
from ipucloud.contract.event_types.money import (
    ACCOUNT_TOP_UP_PAUSED,
    ACCOUNT_TOP_UP_REQUESTED,
    ACCOUNT_TOP_UP_RESUMED,
    ACCOUNT_TOPPED_UP,
)
from ipucloud.contract.wallet import TopUpOut, TopUpPolicy
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.money import Money, written


class TopUp(NamedTuple):
    """A top-up that was requested."""

    id: UUID
    reference: str
    amount: Decimal
    state: str
    failure: str | None


class Policy(NamedTuple):
    """An account's policy. `top_up`: the last one, until its end was reported."""

    account_id: UUID
    currency: str
    amount: Decimal
    below: Decimal | None
    below_hours: int | None
    month_limit: Decimal
    paused_at: datetime | None
    pause_reason: str | None
    top_up: TopUp | None
    this_month: Decimal
    paid_since: bool

    @property
    def fits(self) -> bool:
        """Whether the month's limit allows another top-up."""
        return self.this_month + self.amount <= self.month_limit

    @property
    def resumes(self) -> bool:
        """Whether the reason for the pause has gone: money came in, or another month began."""
        return self.paid_since if self.pause_reason == "payment_failed" else self.fits

    def reached(self, standing: Standing) -> bool:
        """Whether the funds have reached the level."""
        if self.below_hours is not None:
            return standing.remaining(self.below_hours) <= 0
        return self.below is not None and standing.remaining() <= self.below

    def awaits(self, standing: Standing) -> bool:
        """Whether there is anything to do, as far as can be seen without a lock."""
        if self.top_up is not None:
            return self.top_up.state != "pending"
        return self.resumes if self.paused_at is not None else self.reached(standing)


_POLICIES = Query(
    """
    SELECT t.account_id, t.currency, t.amount, t.below, t.below_hours, t.month_limit, t.paused_at, t.pause_reason,
           p.id, p.reference, p.amount, p.state, p.failure,
           coalesce((SELECT sum(m.amount) FROM payments m
                      WHERE m.account_id = t.account_id AND m.currency = t.currency AND m.automatic
                        AND m.state <> 'failed'
                        AND m.created_at >= date_trunc('month', app_now(), 'UTC')), 0) AS this_month,
           EXISTS (SELECT FROM payments m WHERE m.account_id = t.account_id AND m.direction = 'in' AND m.state = 'done'
                                            AND m.finished_at > t.paused_at) AS paid_since
      FROM top_up_policies t LEFT JOIN payments p ON p.id = t.payment_id
     WHERE t.account_id = ANY(CAST(:accounts AS uuid[]))
    """,
    Policy,
)
_SET = sa.text(
    """
    INSERT INTO top_up_policies AS t (account_id, currency, amount, below, below_hours, month_limit, payment_id)
    SELECT p.account_id, p.currency, :amount, :below, :below_hours, :month_limit,
           (SELECT id FROM payments m WHERE m.account_id = p.account_id AND m.automatic AND m.finished_at IS NULL)
      FROM prepaid_accounts p WHERE p.account_id = :account_id
    ON CONFLICT (account_id) DO UPDATE
       SET amount = excluded.amount, below = excluded.below, below_hours = excluded.below_hours,
           month_limit = excluded.month_limit, paused_at = NULL, pause_reason = NULL, version = t.version + 1
     WHERE (t.amount, t.below, t.below_hours, t.month_limit, t.paused_at)
           IS DISTINCT FROM (excluded.amount, excluded.below, excluded.below_hours, excluded.month_limit,
                             CAST(NULL AS timestamptz))
    """
)
_PREPAID = Query("SELECT EXISTS (SELECT FROM prepaid_accounts WHERE account_id = :account_id)", bool)
_END = sa.text("DELETE FROM top_up_policies WHERE account_id = :account_id")
_ENTER = sa.text(
    """
    UPDATE top_up_policies
       SET payment_id = :payment_id, pause_reason = :pause_reason,
           paused_at = CASE WHEN CAST(:pause_reason AS text) IS NOT NULL THEN coalesce(paused_at, app_now()) END
     WHERE account_id = :account_id
    """
)


async def policy_of(connection: Statements, account_id: UUID) -> Policy | None:
    return await _POLICIES.one_or_none(connection, {"accounts": [account_id]})


async def shown_policy(connection: Statements, account_id: UUID) -> TopUpOut | None:
    """The account's policy as answers have it; None: it is not topped up."""
    policy = await policy_of(connection, account_id)
    if policy is None:
        return None
    return TopUpOut(
        amount=Money.of(policy.amount, policy.currency),
        below=None if policy.below is None else Money.of(policy.below, policy.currency),
        below_hours=policy.below_hours,
        month_limit=Money.of(policy.month_limit, policy.currency),
        this_month=Money.of(policy.this_month, policy.currency),
        paused_at=policy.paused_at,
        pause_reason=policy.pause_reason,
        reference=None if policy.top_up is None else policy.top_up.reference,
    )


async def set_top_up(connection: AsyncConnection, account_id: UUID, policy: TopUpPolicy) -> None:
    """Top the account up from now on; a paused policy is resumed. Safe to repeat.

    The account is locked. Raises `Problem` state_conflict if it is not prepaid.
    """
    if not await _PREPAID.one(connection, {"account_id": account_id}):
        raise Problem(
            STATE_CONFLICT,
            "The account is not prepaid, and only prepaid accounts are topped up."
            " Make it prepaid first (`ipucloud accounts set-prepaid`).",
        )
    former = await policy_of(connection, account_id)
    values = {
        "account_id": account_id,
        "amount": policy.amount.amount,
        "below": None if policy.below is None else policy.below.amount,
        "below_hours": policy.below_hours,
        "month_limit": policy.month_limit.amount,
    }
    await connection.execute(_SET, values)
    if former is not None and former.paused_at is not None:
        await record_event(connection, account_id, ACCOUNT_TOP_UP_RESUMED)


async def end_top_up(connection: AsyncConnection, account_id: UUID) -> bool:
    """Top the account up no more; False if it was not. The account is locked. A top-up under way may still come in."""
    return (await connection.execute(_END, {"account_id": account_id})).rowcount == 1


async def pause_after_reversal(connection: AsyncConnection, account_id: UUID, reference: str) -> None:
    """Top up no more after a top-up was taken back: the card may be blocked or stolen. The account is locked."""
    policy = await policy_of(connection, account_id)
    if policy is not None and policy.paused_at is None:
        await _pause(connection, policy, "payment_failed", f"The top-up {reference} was taken back.")


async def top_up_accounts(database: Database, accounts: Sequence[Facts]) -> int:
    """Report ended top-ups and request those that are due; returns how many were requested.

    `accounts` are the prepaid accounts of a moment ago. Each account has a transaction of its own, which looks again.
    """
    async with database.read() as connection:
        policies = await _POLICIES.all(connection, {"accounts": [facts.account_id for facts in accounts]})
    standings = {facts.account_id: facts.standing for facts in accounts} if policies else {}
    requested = 0
    for policy in policies:
        if policy.awaits(standings[policy.account_id]):
            async with database.begin() as transaction:
                requested += await _advance(transaction, policy.account_id)
                failpoint("prepaid.before_top_up_commit")
    return requested


async def _advance(connection: AsyncConnection, account_id: UUID) -> bool:
    """Whether a top-up was requested."""
    await lock_payer(connection, account_id)
    policy = await policy_of(connection, account_id)
    if policy is None or (policy.top_up is not None and policy.top_up.state == "pending"):
        return False
    if policy.top_up is not None and policy.top_up.state == "failed":
        why = f"The top-up {policy.top_up.reference} failed. {policy.top_up.failure or ''}".rstrip()
        await _pause(connection, policy, "payment_failed", why)
        return False
    if policy.top_up is not None:
        await record_event(connection, account_id, ACCOUNT_TOPPED_UP, _about(policy, policy.top_up))
    if policy.paused_at is not None:
        if not policy.resumes:
            return False
        await record_event(connection, account_id, ACCOUNT_TOP_UP_RESUMED)
    facts = await facts_of(connection, account_id, currency=policy.currency)
    if not policy.reached(facts.standing):
        await _enter(connection, account_id)
        return False
    if not policy.fits:
        limit, spent = written(policy.month_limit, policy.currency), written(policy.this_month, policy.currency)
        why = f"Another top-up would exceed the month's limit: {spent} of {limit} {policy.currency} was requested."
        await _pause(connection, policy, "month_limit", why)
        return False
    payment = await request_top_up(connection, account_id, Money.of(policy.amount, policy.currency))
    await _enter(connection, account_id, payment_id=payment.id)
    top_up = TopUp(payment.id, payment.reference, payment.amount, "pending", None)
    await record_event(connection, account_id, ACCOUNT_TOP_UP_REQUESTED, _about(policy, top_up))
    return True


async def _pause(connection: AsyncConnection, policy: Policy, reason: str, why: str) -> None:
    open_one = policy.top_up if policy.top_up is not None and policy.top_up.state == "pending" else None
    payment_id = None if open_one is None else open_one.id
    await _enter(connection, policy.account_id, payment_id=payment_id, pause_reason=reason)
    await record_event(connection, policy.account_id, ACCOUNT_TOP_UP_PAUSED, TopUpPaused(reason=reason, detail=why))


async def _enter(
    connection: AsyncConnection, account_id: UUID, *, payment_id: UUID | None = None, pause_reason: str | None = None
) -> None:
    values = {"account_id": account_id, "payment_id": payment_id, "pause_reason": pause_reason}
    await connection.execute(_ENTER, values)


def _about(policy: Policy, top_up: TopUp) -> TopUpOf:
    amount = AmountOfMoney(amount=written(top_up.amount, policy.currency), currency=policy.currency)
    return TopUpOf(payment=top_up.id, reference=top_up.reference, amount=amount)
