"""The public keys under which months are and were signed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from ipucloud.contract.invoices import ProofKeyOut
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.sealing import Keys
from ipucloud.kernel.signing import signer_of


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
