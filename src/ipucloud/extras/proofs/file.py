"""The file of an invoice's proof: the document, the facts and charges of its bill, and what was signed of them.

`client/verify_bill.py` checks it without the service.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import date
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

import orjson

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.extras.proofs.leaves import Billed, charges_of, facts_of
from ipucloud.extras.proofs.merkle import leaf, path_to
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from ipucloud.kernel.sealing import Keys, needed, signer_of

FORMAT = "ipucloud-invoice-proof/1"


class _Signed(NamedTuple):
    """An invoice and the proof of its bill; all after `document` None until the month is signed."""

    month: date
    account_id: UUID
    currency: str
    document: str
    place: int
    root: bytes | None
    bills: int
    public_key: str
    signature: str


_SIGNED = Query(
    """
    SELECT i.month, i.account_id, i.currency, i.document::text AS document, b.place, m.root, m.bills, m.public_key,
           m.signature
      FROM invoices i
      LEFT JOIN bill_proofs b ON (b.month, b.account_id, b.currency) = (i.month, i.account_id, i.currency)
      LEFT JOIN month_proofs m ON m.month = b.month
     WHERE i.number = :number
    """,
    _Signed,
)


class _Bill(NamedTuple):
    account_id: UUID
    currency: str
    root: bytes
    leaves: int


_BILLS = Query("SELECT account_id, currency, root, leaves FROM bill_proofs WHERE month = :month ORDER BY place", _Bill)


class Proof(NamedTuple):
    """A proof whose signatures are made; its facts and charges are read while it is sent."""

    bill: Billed
    head: dict[str, object]


async def proof_of(connection: Statements, number: str, keys: Keys | None) -> Proof:
    """The proof of an invoice that exists, or of a credit note that a month's bill is.

    Raises `Problem`: state_conflict for a credit note that an operator issued, and until its month is signed;
    not_configured without a key.
    """
    signer = signer_of(needed(keys))
    row = await _SIGNED.one_or_none(connection, {"number": number})
    if row is None:
        raise Problem(
            STATE_CONFLICT,
            f"{number} was issued by an operator and follows from no usage. Ask for the proof of the invoice that it"
            " corrects.",
        )
    if row.root is None:
        raise Problem(
            STATE_CONFLICT, f"{row.month:%B %Y} is not signed yet. Workers do that within minutes: ask again."
        )
    bill = Billed(row.month, row.account_id, row.currency)
    hashes = [
        leaf(Billed(row.month, each.account_id, each.currency).leaf(each.root, each.leaves))
        for each in await _BILLS.all(connection, {"month": row.month})
    ]
    digest = sha256(row.document.encode()).hexdigest()
    head: dict[str, object] = {
        "format": FORMAT,
        "invoice": {
            "document": row.document,
            "public_key": signer.public_key,
            "signature": signer.sign(f"ipucloud-invoice/1|{number}|{digest}"),
        },
        "month": {
            "month": f"{row.month:%Y-%m}",
            "root": row.root.hex(),
            "bills": row.bills,
            "public_key": row.public_key,
            "signature": row.signature,
        },
        "bill": {
            "account": str(bill.account_id),
            "currency": bill.currency,
            "place": row.place,
            "path": [each.hex() for each in path_to(hashes, row.place)],
        },
    }
    return Proof(bill, head)


async def pieces_of(database: Database, proof: Proof) -> AsyncGenerator[bytes]:
    """The file, a piece at a time."""
    facts = await facts_of(database, proof.bill)
    yield orjson.dumps(proof.head | {"facts": facts})[:-1] + b',"charges":['
    first = True
    async for charges in charges_of(database, proof.bill):
        yield (b"" if first else b",") + b",".join(orjson.dumps(each) for each in charges)
        first = False
    yield b"]}"
