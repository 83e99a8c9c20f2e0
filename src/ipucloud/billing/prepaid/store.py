"""Prepaid accounts and their policies."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.wallet import WARN_HOURS

_SET = sa.text(
    """
    INSERT INTO prepaid_accounts AS p (account_id, currency, when_empty, warn_hours)
    VALUES (:account_id, :currency, :when_empty, :warn_hours)
    ON CONFLICT (account_id) DO UPDATE
       SET when_empty = excluded.when_empty, warn_hours = excluded.warn_hours,
           low_hours = CASE WHEN p.warn_hours = excluded.warn_hours THEN p.low_hours END, version = p.version + 1
     WHERE (p.when_empty, p.warn_hours) <> (excluded.when_empty, excluded.warn_hours)
    """
)
_END = sa.text("DELETE FROM prepaid_accounts WHERE account_id = :account_id")


async def set_prepaid(
    connection: AsyncConnection,
    account_id: UUID,
    *,
    currency: str,
    when_empty: str,
    warn_hours: Sequence[int] = WARN_HOURS,
) -> None:
    """Make the account prepaid from now on. Safe to repeat. The account must exist.

    `warn_hours`: funds that last no longer than so many hours are reported.
    """
    values = {"account_id": account_id, "currency": currency, "when_empty": when_empty}
    await connection.execute(_SET, values | {"warn_hours": sorted(warn_hours, reverse=True)})


async def end_prepaid(connection: AsyncConnection, account_id: UUID) -> bool:
    """End the account's prepayment; False if it was not prepaid. Its holds are released later."""
    return (await connection.execute(_END, {"account_id": account_id})).rowcount == 1
