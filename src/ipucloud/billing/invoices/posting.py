"""Several transfers as one statement, which locks the ledger's accounts in one order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.ledger.transfers import Side
from ipucloud.db.documents import clauses

_MOVES = """
WITH moves AS (
  SELECT * FROM unnest(CAST(:idems AS text[]), CAST(:kinds AS text[]), CAST(:debit_codes AS text[]),
                       CAST(:debit_owners AS uuid[]), CAST(:credit_codes AS text[]), CAST(:credit_owners AS uuid[]),
                       CAST(:currencies AS text[]), CAST(:amounts AS numeric[]), CAST(:adjusts AS text[]),
                       CAST(:reasons AS text[]))
    AS move (idem, kind, debit_code, debit_owner, credit_code, credit_owner, currency, amount, adjusts, reason)
)
"""
_ACCOUNTS = sa.text(
    clauses(
        _MOVES,
        """
        INSERT INTO ledger_accounts (code, owner_id, currency)
        SELECT code, owner_id, currency
          FROM (SELECT debit_code, debit_owner, currency FROM moves
                UNION SELECT credit_code, credit_owner, currency FROM moves) AS sides (code, owner_id, currency)
         ORDER BY owner_id, code
        ON CONFLICT DO NOTHING
        """,
    )
)
# No ON CONFLICT: a duplicate posting must abort.
_POST = sa.text(
    clauses(
        _MOVES,
        """
        INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at, adjusts, reason)
        SELECT moves.idem, moves.kind, debit.id, credit.id, moves.currency, moves.amount, app_now(), moves.adjusts,
               moves.reason
          FROM moves
          JOIN ledger_accounts debit ON debit.code = moves.debit_code AND debit.currency = moves.currency
                                    AND debit.owner_id IS NOT DISTINCT FROM moves.debit_owner
          JOIN ledger_accounts credit ON credit.code = moves.credit_code AND credit.currency = moves.currency
                                     AND credit.owner_id IS NOT DISTINCT FROM moves.credit_owner
        """,
    )
)


@dataclass(frozen=True, slots=True)
class Move:
    """`amount` from `debit` to `credit`; below 0 the other way round, and 0 is no transfer.

    `adjusts`, `reason`: of an adjusting entry.
    """

    idem: str
    kind: str
    debit: Side
    credit: Side
    amount: Decimal
    adjusts: str | None = None
    reason: str | None = None

    def forward(self) -> Move:
        if self.amount >= 0:
            return self
        return replace(self, debit=self.credit, credit=self.debit, amount=-self.amount)


async def post(connection: AsyncConnection, moves: Sequence[Move]) -> None:
    """Post all of them. Raises sqlalchemy.exc.IntegrityError when one was posted before, or a floor is broken."""
    real = [move.forward() for move in moves if move.amount]
    if not real:
        return
    parameters = {
        "idems": [move.idem for move in real],
        "kinds": [move.kind for move in real],
        "debit_codes": [move.debit.code for move in real],
        "debit_owners": [move.debit.owner for move in real],
        "credit_codes": [move.credit.code for move in real],
        "credit_owners": [move.credit.owner for move in real],
        "currencies": [move.debit.currency for move in real],
        "amounts": [move.amount for move in real],
        "adjusts": [move.adjusts for move in real],
        "reasons": [move.reason for move in real],
    }
    await connection.execute(_ACCOUNTS, parameters)
    await connection.execute(_POST, parameters)
