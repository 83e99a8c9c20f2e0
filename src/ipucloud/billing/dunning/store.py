"""Accounts' dunning policies."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.accounts.store import record_event
from ipucloud.billing.dunning.overdue import OVERDUE
from ipucloud.contract.accounts import DunningOut, DunningPolicy
from ipucloud.contract.event_types.money import ACCOUNT_RESTRICTION_LIFTED
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money

_SET = sa.text(
    """
    INSERT INTO dunning_policies AS d (account_id, remind_after, refuse_creates_after, suspend_after)
    VALUES (:account_id, :remind_after, :refuse_creates_after, :suspend_after)
    ON CONFLICT (account_id) DO UPDATE
       SET remind_after = excluded.remind_after, refuse_creates_after = excluded.refuse_creates_after,
           suspend_after = excluded.suspend_after, version = d.version + 1
     WHERE (d.remind_after, d.refuse_creates_after, d.suspend_after)
           IS DISTINCT FROM (excluded.remind_after, excluded.refuse_creates_after, excluded.suspend_after)
    """
)
_END = Query("DELETE FROM dunning_policies WHERE account_id = :account_id RETURNING coalesce(restriction, '')", str)


class _Dunning(NamedTuple):
    remind_after: list[int]
    refuse_creates_after: int | None
    suspend_after: int | None
    restriction: str | None
    overdue: Decimal
    overdue_since: date | None


_READ = Query(
    clauses(
        """
        SELECT coalesce(d.remind_after, '{}') AS remind_after, d.refuse_creates_after, d.suspend_after, d.restriction,
               coalesce(sum(o.rest), 0) AS overdue, min(o.due_on) AS overdue_since
          FROM billing_accounts a
          LEFT JOIN dunning_policies d ON d.account_id = a.id
          LEFT JOIN
        """,
        OVERDUE,
        """
            AS o ON o.account_id = a.id AND o.currency = :currency
         WHERE a.id = :account_id GROUP BY d.account_id
        """,
    ),
    _Dunning,
)


async def set_dunning(connection: AsyncConnection, account_id: UUID, policy: DunningPolicy) -> None:
    """Remind and restrict the account like this from now on. Safe to repeat. The account must exist."""
    values = {
        "account_id": account_id,
        "remind_after": sorted(set(policy.remind_after)),
        "refuse_creates_after": policy.refuse_creates_after,
        "suspend_after": policy.suspend_after,
    }
    await connection.execute(_SET, values)


async def end_dunning(connection: AsyncConnection, account_id: UUID) -> bool:
    """Neither remind nor restrict the account any more; False if it was not."""
    restriction = await _END.one_or_none(connection, {"account_id": account_id})
    if restriction:
        await record_event(connection, account_id, ACCOUNT_RESTRICTION_LIFTED)
    return restriction is not None


async def dunning_of(connection: Statements, account_id: UUID, *, currency: str) -> DunningOut:
    """The account's policy and what is overdue now; the account must exist."""
    row = await _READ.one(connection, {"account_id": account_id, "currency": currency})
    return DunningOut(
        account_id=account_id,
        remind_after=row.remind_after,
        refuse_creates_after=row.refuse_creates_after,
        suspend_after=row.suspend_after,
        restriction=row.restriction,
        overdue=Money.of(row.overdue, currency),
        overdue_since=row.overdue_since,
    )
