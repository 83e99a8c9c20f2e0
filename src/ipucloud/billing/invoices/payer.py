"""An account while its money is moved: locked, so that transactions see its balances one after the other."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.ledger.transfers import Side
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import not_found

PAYER = "a.id, a.name, a.legal_name, a.address, a.country, a.tax_id, a.tax_exempt, a.payment_days, a.e_invoice"
"""SQL of the columns of a `Payer`, of `billing_accounts AS a`."""
BALANCE = """
SELECT coalesce(sum(credits - debits), 0) AS balance FROM ledger_accounts
 WHERE owner_id = :account_id AND code = :code AND currency = :currency
"""
"""SQL of what an account of the ledger holds."""
_READ = f"SELECT {PAYER} FROM billing_accounts AS a WHERE id = :account_id"  # noqa: S608  # our own text
_BALANCE = Query(BALANCE, Decimal)


class Payer(NamedTuple):
    """An account, by what a document says of it."""

    id: UUID
    name: str
    legal_name: str | None
    address: str | None
    country: str | None
    tax_id: str | None
    tax_exempt: bool
    payment_days: int
    e_invoice: dict[str, Any]

    def side(self, code: str, currency: str) -> Side:
        """Its account of the ledger: `unbilled`, `receivable`, `wallet` or `promo`."""
        return Side(code, self.id, currency)


_LOOK = Query(_READ, Payer)
_LOCK = Query(f"{_READ} FOR NO KEY UPDATE", Payer)


def platform(code: str, currency: str) -> Side:
    """The platform's account of the ledger: `revenue`, `tax`, `rounding` or `cash`."""
    return Side(code, None, currency)


async def lock_payer(connection: AsyncConnection, account_id: UUID) -> Payer:
    """The account, for this transaction alone. Raises `Problem` not_found."""
    return await _payer(connection, _LOCK, account_id)


async def read_payer(connection: Statements, account_id: UUID) -> Payer:
    """The account without a lock, for reading. Raises `Problem` not_found."""
    return await _payer(connection, _LOOK, account_id)


async def balance(connection: Statements, payer: Payer, code: str, currency: str) -> Decimal:
    """The customer's balance; negative when owed."""
    values = {"account_id": payer.id, "code": code, "currency": currency}
    return await _BALANCE.one(connection, values)


async def _payer(connection: Statements, statement: Query[Payer], account_id: UUID) -> Payer:
    payer = await statement.one_or_none(connection, {"account_id": account_id})
    if payer is None:
        raise not_found()
    return payer
