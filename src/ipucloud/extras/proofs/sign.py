"""Signs sealed months: a root over the facts and charges of every bill, and one over the bills.

A month is signed once, in one transaction; until then nothing is there. Who is killed meanwhile leaves it to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa

from ipucloud.billing.ledger.months import record_facts
from ipucloud.contract.invoices import ProofKeyOut
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.extras.proofs.leaves import Billed, charges_of, facts_of
from ipucloud.extras.proofs.merkle import Fold, leaf, root_of
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.sealing import Keys, signer_of


class _Used(NamedTuple):
    public_key: str
    first_month: date
    last_month: date


_USED = Query(
    """
    SELECT public_key, min(month) AS first_month, max(month) AS last_month FROM month_proofs
     GROUP BY public_key ORDER BY last_month DESC
    """,
    _Used,
)


async def proof_keys(connection: Statements, keys: Keys | None) -> Sequence[ProofKeyOut]:
    """The key that signs now, if there is one, and all that have signed a month, newest first."""
    current = None if keys is None else signer_of(keys).public_key
    used = [
        ProofKeyOut(
            public_key=key.public_key,
            current=key.public_key == current,
            first_month=f"{key.first_month:%Y-%m}",
            last_month=f"{key.last_month:%Y-%m}",
        )
        for key in await _USED.all(connection)
    ]
    if current is None or any(key.current for key in used):
        return used
    return [ProofKeyOut(public_key=current, current=True, first_month=None, last_month=None), *used]


_MONTHS = Query(
    """
    SELECT month FROM billing_months b
     WHERE sealed_at IS NOT NULL AND NOT EXISTS (SELECT FROM month_proofs p WHERE p.month = b.month) ORDER BY month
    """,
    date,
)


class _Account(NamedTuple):
    account_id: UUID
    currency: str


_BILLS = Query(
    "SELECT DISTINCT account_id, currency FROM billed_facts WHERE month = :month ORDER BY account_id, currency",
    _Account,
)
_MONTH = sa.text(
    """
    INSERT INTO month_proofs (month, root, bills, public_key, signature)
    VALUES (:month, :root, :bills, :public_key, :signature) ON CONFLICT DO NOTHING
    """
)
_BILL = sa.text(
    """
    INSERT INTO bill_proofs (month, place, account_id, currency, root, leaves)
    VALUES (:month, :place, :account_id, :currency, :root, :leaves)
    """
)


def statement_of(month: date, root: bytes, bills: int) -> str:
    """What is signed of a month."""
    return f"ipucloud-month-proof/1|{month:%Y-%m}|{root.hex()}|{bills}"


async def sign_months(database: Database, keys: Keys) -> list[date]:
    """Sign every sealed month that is not signed yet; returns those."""
    async with database.read() as connection:
        months = await _MONTHS.all(connection)
    return [month for month in months if await _sign(database, month, keys)]


async def _sign(database: Database, month: date, keys: Keys) -> bool:
    async with database.read() as connection:
        accounts = await _BILLS.all(connection, {"month": month})
    if not accounts:  # sealed by a release that wrote no facts down, or nothing was used
        async with database.begin() as connection:
            await record_facts(connection, month)
            accounts = await _BILLS.all(connection, {"month": month})
    bills, hashes = [], []
    for place, account in enumerate(accounts):
        bill = Billed(month, account.account_id, account.currency)
        fold = await _folded(database, bill)
        bills.append(bill.values | {"place": place, "root": fold.root, "leaves": fold.count})
        hashes.append(leaf(bill.leaf(fold.root, fold.count)))
    root, signer = root_of(hashes), signer_of(keys)
    values = {"month": month, "root": root, "bills": len(bills), "public_key": signer.public_key}
    signature = signer.sign(statement_of(month, root, len(bills)))
    async with database.begin() as connection:
        done = (await connection.execute(_MONTH, values | {"signature": signature})).rowcount == 1
        if done and bills:
            await connection.execute(_BILL, bills)
        failpoint("proofs.before_commit")
    return done


async def _folded(database: Database, bill: Billed) -> Fold:
    fold = Fold()
    for fact in await facts_of(database, bill):
        fold.add(leaf(fact))
    async for charges in charges_of(database, bill):
        for charge in charges:
            fold.add(leaf(charge))
    return fold
