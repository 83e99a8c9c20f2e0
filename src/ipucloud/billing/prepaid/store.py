"""Which accounts pay ahead, and what happens when they run empty."""

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
    """Let the account pay ahead from now on. What is asked for already changes nothing. The account must exist."""
    await connection.execute(_SET, {"account_id": account_id, "currency": currency, "when_empty": when_empty})


async def end_prepaid(connection: AsyncConnection, account_id: UUID) -> bool:
    """Let the account pay by invoice alone; False when it did already. What creates hold is released by and by."""
    return (await connection.execute(_END, {"account_id": account_id})).rowcount == 1
