"""An account's balances as shown to customers: positive numbers with plain names."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from ipucloud.billing.ledger.transfers import balances
from ipucloud.contract.wallet import BalanceOut
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money

NAMES = {"unbilled": "unbilled", "receivable": "outstanding", "wallet": "wallet", "promo": "credit"}
"""A customer's ledger account and its public name."""
OWING = frozenset({"unbilled", "receivable"})


async def balances_shown(connection: Statements, account_id: UUID, currency: str) -> list[BalanceOut]:
    """The account's balances: in `currency` even if it was never used, and in every other one that was."""
    held: dict[str, dict[str, Decimal]] = {currency: {}}
    for each in await balances(connection, account_id):
        held.setdefault(each.currency, {})[each.code] = -each.balance if each.code in OWING else each.balance
    return [
        BalanceOut(currency=name, **{shown: Money.of(codes.get(code, 0), name) for code, shown in NAMES.items()})
        for name, codes in held.items()
    ]
