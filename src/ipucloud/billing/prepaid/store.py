"""Prepaid accounts and their policies."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

_SET = sa.text(
    """
    INSERT INTO prepaid_accounts AS p (account_id, currency, when_empty) VALUES (:account_id, :currency, :when_empty)
    ON CONFLICT (account_id) DO UPDATE SET when_empty = excluded.when_empty, version = p.version + 1
     WHERE p.when_empty <> excluded.when_empty
    """
)
_END = sa.text("DELETE FROM prepaid_accounts WHERE account_id = :account_id")


async def set_prepaid(connection: AsyncConnection, account_id: UUID, *, currency: str, when_empty: str) -> None:
    """Make the account prepaid from now on. Safe to repeat. The account must exist."""
    await connection.execute(_SET, {"account_id": account_id, "currency": currency, "when_empty": when_empty})


async def end_prepaid(connection: AsyncConnection, account_id: UUID) -> bool:
    """End the account's prepayment; False if it was not prepaid. Its holds are released later."""
    return (await connection.execute(_END, {"account_id": account_id})).rowcount == 1
