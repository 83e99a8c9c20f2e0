"""Adjusting entries: what was posted wrongly, twice or not at all is made good by further postings.

An entry has the name of what it corrects and a reason, and is itself never changed. Entries are the difference between
what the records say and what was posted, so a second look finds nothing more to post.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.payer import lock_payer
from ipucloud.billing.invoices.posting import Move, post
from ipucloud.billing.invoices.recorded import Comparison, Row
from ipucloud.billing.invoices.settling import pay_open_invoices
from ipucloud.billing.ledger.transfers import Side
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.money import Money

Compare: TypeAlias = Callable[[Statements], Awaitable[Comparison | None]]

KIND = "adjustment"

_ENTRIES = Query(
    """
    SELECT name FROM unnest(CAST(:names AS text[])) AS name JOIN ledger_transfers t ON t.adjusts = name
    """,
    str,
)


async def planned(connection: Statements, compare: Compare) -> Sequence[Move]:
    """The entries that are missing now, without a reason."""
    comparison = await compare(connection)
    return () if comparison is None else _numbered(missing(comparison), Counter())


async def adjust(connection: AsyncConnection, compare: Compare, reason: str) -> Sequence[Move]:
    """Post the entries that are missing, and have the wallet pay open invoices; returns the entries.

    Raises sqlalchemy.exc.IntegrityError when a wallet or promotional credit would be overdrawn.
    """
    before = await compare(connection)
    if before is None:
        return ()
    payer = await lock_payer(connection, before.account_id)
    # Again: somebody who had the lock may have posted them.
    comparison = await compare(connection)
    moves = () if comparison is None else missing(comparison)
    if not moves:
        return ()
    names = {"names": [str(move.adjusts) for move in moves]}
    moves = _numbered(moves, Counter(await _ENTRIES.all(connection, names)))
    await post(connection, [replace(move, reason=reason) for move in moves])
    for currency in {move.credit.currency for move in moves if move.credit.code == "wallet"}:
        await pay_open_invoices(connection, payer, currency)
    return moves


def missing(comparison: Comparison) -> Sequence[Move]:
    """What makes the accounts of each name come to what is recorded; without `idem` and `reason`."""
    nets: dict[str, defaultdict[Side, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for rows, sign in ((comparison.recorded, 1), (comparison.posted, -1)):
        for row in rows:
            _count(nets[row.name], row, sign * row.amount)
    return [move for name in sorted(nets) for move in _balancing(name, nets[name])]


def told(move: Move) -> str:
    """An entry as people read it."""
    amount = Money.of(move.amount, move.debit.currency)
    return f"{amount} debited to {_side_name(move.debit)} and credited to {_side_name(move.credit)}, for {move.adjusts}"


def _side_name(side: Side) -> str:
    return side.code if side.owner is None else f"{side.code} of account {side.owner}"


def _count(nets: defaultdict[Side, Decimal], row: Row, amount: Decimal) -> None:
    nets[row.debit] -= amount
    nets[row.credit] += amount


def _balancing(name: str, nets: Mapping[Side, Decimal]) -> list[Move]:
    """Transfers that credit each account with its net, below 0 debit it; the nets sum to 0."""
    rest = dict(sorted(nets.items(), key=lambda each: (each[0].code, str(each[0].owner), each[0].currency)))
    moves: list[Move] = []
    for credit in [side for side, net in rest.items() if net > 0]:
        for debit in [side for side, net in rest.items() if net < 0 and side.currency == credit.currency]:
            amount = min(rest[credit], -rest[debit])
            if amount > 0:
                moves.append(Move("", KIND, debit, credit, amount, adjusts=name))
                rest[credit] -= amount
                rest[debit] += amount
    return moves


def _numbered(moves: Sequence[Move], earlier: Counter[str]) -> Sequence[Move]:
    """Each with an `idem` of its own: who posts the same one at the same time is refused."""
    numbered = []
    for move in moves:
        earlier[str(move.adjusts)] += 1
        numbered.append(replace(move, idem=f"{move.adjusts}/adjustment/{earlier[str(move.adjusts)]}"))
    return numbered
