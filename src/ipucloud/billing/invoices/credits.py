"""Promotional credit: granted by an operator, used by invoices in order of expiry.

A credit pays for usage of hours that began before its expiry. Its unused rest is reversed once its last month is
invoiced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.lines import Bill
from ipucloud.billing.invoices.payer import lock_payer, platform
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.db.documents import money, rfc3339
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money, payable

AT_ONCE = 1000
"""Credits reversed per turn."""

_REST = "amount - coalesce((SELECT sum(u.amount) FROM promo_credit_uses u WHERE u.credit_id = c.id), 0)"
_GRANT = sa.text(
    """
    INSERT INTO promo_credits (id, account_id, currency, amount, reason, expires_at)
    VALUES (:id, :account_id, :currency, :amount, :reason, :expires_at)
    """
)
_DOCUMENT = f"""
SELECT json_build_object(
         'id', id, 'account_id', account_id, 'amount', {money("amount", "currency")}, 'reason', reason,
         'remaining', {money(_REST, "currency")}, 'expires_at', {rfc3339("expires_at")},
         'created_at', {rfc3339("created_at")})::text AS document
  FROM promo_credits c
"""  # noqa: S608  # our own text
_LIST = Query(f"{_DOCUMENT} WHERE account_id = :account_id ORDER BY expires_at, id LIMIT 1000", str)
_ONE = Query(f"{_DOCUMENT} WHERE id = :id", str)
_BURN = sa.text(
    "INSERT INTO promo_credit_uses (credit_id, invoice_id, amount) VALUES (:credit_id, :invoice_id, :amount)"
)


class _Expired(NamedTuple):
    id: UUID
    account_id: UUID
    currency: str
    rest: Decimal


_EXPIRED = Query(
    f"""
    SELECT id, account_id, currency, {_REST} AS rest FROM promo_credits c
     WHERE expires_at <= app_now() AND {_REST} > 0
       AND NOT EXISTS (
         SELECT FROM billing_months b
          WHERE b.month < c.expires_at AT TIME ZONE 'UTC'
            AND NOT EXISTS (SELECT FROM invoiced_months i WHERE i.month = b.month))
       AND (CAST(:id AS uuid) IS NULL OR id = :id)
     ORDER BY expires_at, id LIMIT :limit
    """,  # noqa: S608  # our own text
    _Expired,
)


class Usable(NamedTuple):
    """A credit with a rest. `used_before`: exact usage until it expired; None if it is still valid."""

    id: UUID
    rest: Decimal
    used_before: Decimal | None


# Only a credit that expired within the month needs the usage before its expiry.
_USABLE = Query(
    f"""
    SELECT id, rest, CASE WHEN expires_at < (CAST(:month AS date) + interval '1 month') AT TIME ZONE 'UTC' THEN (
             SELECT coalesce(sum(cost), 0) FROM usage_charges u
              WHERE u.billing_month = :month AND u.account_id = :account_id AND u.currency = :currency
                AND u.started_at < c.expires_at) END AS used_before
      FROM (SELECT c.id, c.expires_at, {_REST} AS rest FROM promo_credits c
             WHERE account_id = :account_id AND currency = :currency
               AND expires_at > CAST(:month AS date)::timestamp AT TIME ZONE 'UTC') AS c
     WHERE rest > 0
     ORDER BY expires_at, id
    """,  # noqa: S608  # our own text
    Usable,
)


@dataclass(frozen=True, slots=True)
class Burned:
    credit_id: UUID
    amount: Decimal


async def grant(
    connection: AsyncConnection, account_id: UUID, amount: Money, *, reason: str, expires_at: datetime
) -> UUID:
    """Grant credit to the account. Raises `Problem` not_found."""
    payer, credit_id = await lock_payer(connection, account_id), new_id()
    values = {"account_id": account_id, "currency": amount.currency, "amount": amount.amount, "id": credit_id}
    await connection.execute(_GRANT, values | {"reason": reason, "expires_at": expires_at})
    debit, credit = platform("revenue", amount.currency), payer.side("promo", amount.currency)
    await post(connection, [Move(f"credit/{credit_id}/granted", "credit_granted", debit, credit, amount.amount)])
    return credit_id


async def credits_of(connection: Statements, account_id: UUID) -> Sequence[str]:
    """The account's credits as JSON, the one that expires first at the top."""
    return await _LIST.all(connection, {"account_id": account_id})


async def credit_document(connection: Statements, credit_id: UUID) -> bytes:
    """The credit as JSON."""
    return (await _ONE.one(connection, {"id": credit_id})).encode()


async def usable(connection: Statements, bill: Bill) -> Sequence[Usable]:
    """Credits that can be used for the bill, in order of use."""
    return await _USABLE.all(connection, bill.values())


def burn(usable_credits: Sequence[Usable], subtotal: Decimal, places: int) -> Sequence[Burned]:
    """Use each in order, at most its rest, the usage before its expiry, and the amount to pay."""
    burned: list[Burned] = []
    due, used = subtotal, Decimal(0)
    for credit in usable_credits:
        most = due if credit.used_before is None else min(due, payable(credit.used_before, places) - used)
        amount = min(credit.rest, most)
        if amount > 0:
            burned.append(Burned(credit.id, amount))
            due, used = due - amount, used + amount
    return burned


async def write_burned(connection: AsyncConnection, invoice_id: UUID, burned: Sequence[Burned]) -> None:
    """Remember which credits an invoice took from; the transfer is the invoice's."""
    for credit in burned:
        values = {"credit_id": credit.credit_id, "invoice_id": invoice_id, "amount": credit.amount}
        await connection.execute(_BURN, values)


async def expire_credits(database: Database) -> int:
    """Reverse the rest of expired credits, each in its own transaction; returns how many."""
    async with database.read() as connection:
        due = await _EXPIRED.all(connection, {"id": None, "limit": AT_ONCE})
    for row in due:
        async with database.begin() as transaction:
            await _expire(transaction, row.account_id, row.id)
            failpoint("invoices.before_expiry_commit")
    return len(due)


async def _expire(connection: AsyncConnection, account_id: UUID, credit_id: UUID) -> None:
    payer = await lock_payer(connection, account_id)
    row = await _EXPIRED.one_or_none(connection, {"id": credit_id, "limit": 1})
    if row is None:
        return
    await connection.execute(_BURN, {"credit_id": credit_id, "invoice_id": None, "amount": row.rest})
    debit, credit = payer.side("promo", row.currency), platform("revenue", row.currency)
    await post(connection, [Move(f"credit/{credit_id}/expired", "credit_expired", debit, credit, row.rest)])
