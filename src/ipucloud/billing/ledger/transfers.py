"""Double entry: a transfer debits one account and credits another, so every row balances.

The database maintains balances (`functions.APPLY_TRANSFERS`) and their limits: a promotional credit is never negative,
a wallet only by payments that were reversed. A transfer's `idem` is unique.
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

from ipucloud.contract.wallet import BalanceOut
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money

_MOVED = """
WITH moved AS (
  SELECT account_id, currency, amount
    FROM unnest(CAST(:accounts AS uuid[]), CAST(:currencies AS text[]), CAST(:amounts AS numeric[]))
         AS sums (account_id, currency, amount)
   WHERE amount <> 0
)
"""
_USAGE_ACCOUNTS = sa.text(
    clauses(
        _MOVED,
        """
        INSERT INTO ledger_accounts (code, owner_id, currency)
        SELECT 'unbilled', account_id, currency FROM moved
        UNION SELECT 'revenue', NULL, currency FROM moved
        ON CONFLICT DO NOTHING
        """,
    )
)
# No ON CONFLICT: an hour that would be posted twice must abort.
_USAGE = sa.text(
    clauses(
        _MOVED,
        """
        INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)
        SELECT concat_ws('/', 'usage', to_char(CAST(:hour AS timestamptz) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24'),
                         CAST(:revision AS integer), moved.account_id, moved.currency),
               CASE WHEN amount > 0 THEN 'usage' ELSE 'usage_taken_back' END,
               CASE WHEN amount > 0 THEN unbilled.id ELSE revenue.id END,
               CASE WHEN amount > 0 THEN revenue.id ELSE unbilled.id END,
               moved.currency, abs(amount), :hour
          FROM moved
          JOIN ledger_accounts unbilled ON unbilled.owner_id = moved.account_id AND unbilled.code = 'unbilled'
                                       AND unbilled.currency = moved.currency
          JOIN ledger_accounts revenue ON revenue.owner_id IS NULL AND revenue.code = 'revenue'
                                      AND revenue.currency = moved.currency
         ORDER BY unbilled.id
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Side:
    """An account by its meaning; `owner` None: the platform's."""

    code: str
    owner: UUID | None
    currency: str


class Posted(NamedTuple):
    """Sum and number of an account's charges; negative: reversed."""

    account_id: UUID
    currency: str
    amount: Decimal
    charges: int


class Balance(NamedTuple):
    """An account's credits minus its debits: the customer's balance, negative when owed."""

    code: str
    currency: str
    balance: Decimal


_BALANCES = Query(
    """
    SELECT code, currency, credits - debits AS balance FROM ledger_accounts
     WHERE owner_id = :account_id ORDER BY currency, code
    """,
    Balance,
)


async def post_usage(connection: AsyncConnection, hour: datetime, revision: int, sums: Sequence[Posted]) -> None:
    """Post the sum of an hour's charges from `unbilled` of each account to `revenue`, reversed if negative.

    Raises sqlalchemy.exc.IntegrityError if this revision of the hour was already posted.
    """
    parameters = {
        "hour": hour,
        "revision": revision,
        "accounts": [each.account_id for each in sums],
        "currencies": [each.currency for each in sums],
        "amounts": [each.amount for each in sums],
    }
    await connection.execute(_USAGE_ACCOUNTS, parameters)
    await connection.execute(_USAGE, parameters)


async def balances(connection: Statements, account_id: UUID) -> list[Balance]:
    """The customer's accounts that were ever used."""
    return await _BALANCES.all(connection, {"account_id": account_id})


NAMES = {"unbilled": "unbilled", "receivable": "outstanding", "wallet": "wallet", "promo": "credit"}
"""A customer's ledger account and its public name."""
OWING = frozenset({"unbilled", "receivable"})


async def balances_shown(connection: Statements, account_id: UUID, currency: str) -> list[BalanceOut]:
    """The account's balances: in `currency` even if it was never used, and in every other one that was."""
    held: dict[str, dict[str, Decimal]] = {currency: {}}
    for entry in await balances(connection, account_id):
        held.setdefault(entry.currency, {})[entry.code] = -entry.balance if entry.code in OWING else entry.balance
    return [
        BalanceOut(currency=name, **{shown: Money.of(codes.get(code, 0), name) for code, shown in NAMES.items()})
        for name, codes in held.items()
    ]
