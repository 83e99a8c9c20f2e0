"""The payment method of an account. Every function works inside the caller's transaction."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.wallet import PaymentMethodSet
from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import not_found

_ONE = Query(
    f"""
    SELECT json_build_object('customer', customer, 'payment_method', payment_method,
                             'set_at', {rfc3339("set_at")})::text
      FROM payment_methods WHERE account_id = :account_id
    """,  # noqa: S608  # our own text
    str,
)
_SET = sa.text(
    """
    INSERT INTO payment_methods AS m (account_id, customer, payment_method)
    VALUES (:account_id, :customer, :payment_method)
    ON CONFLICT (account_id) DO UPDATE
       SET customer = excluded.customer, payment_method = excluded.payment_method, set_at = app_now()
     WHERE (m.customer, m.payment_method) IS DISTINCT FROM (excluded.customer, excluded.payment_method)
    """
)
_REMOVE = sa.text("DELETE FROM payment_methods WHERE account_id = :account_id")


async def method_document(connection: Statements, account_id: UUID) -> bytes:
    """The JSON of the account's payment method. Raises `Problem` not_found."""
    document = await _ONE.one_or_none(connection, {"account_id": account_id})
    if document is None:
        raise not_found()
    return document.encode()


async def set_method(connection: AsyncConnection, account_id: UUID, method: PaymentMethodSet) -> None:
    """Charge further top-ups to it. Safe to repeat. The account is locked."""
    await connection.execute(_SET, {"account_id": account_id, **method.model_dump()})


async def remove_method(connection: AsyncConnection, account_id: UUID) -> None:
    """Charge further top-ups to nothing; one that Stripe was asked for goes on. Raises `Problem` not_found."""
    if (await connection.execute(_REMOVE, {"account_id": account_id})).rowcount != 1:
        raise not_found()
