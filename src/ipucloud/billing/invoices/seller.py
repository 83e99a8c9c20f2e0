"""The issuer of invoices: one row, set by an operator."""

from __future__ import annotations

import json

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import Document, clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements

SELLER = """
json_build_object('legal_name', legal_name, 'address', address, 'country', country, 'tax_id', tax_id, 'bank', bank,
                  'e_invoice', e_invoice, 'version', version)::text
"""
"""SQL of the seller as JSON, of the only row of `sellers`."""
_READ = Query(clauses("SELECT", SELLER, "AS document, version FROM sellers"), Document)
_UPDATE = sa.text(
    """
    UPDATE sellers
       SET legal_name = coalesce(:legal_name, legal_name), address = coalesce(:address, address),
           country = coalesce(:country, country), tax_id = coalesce(:tax_id, tax_id), bank = coalesce(:bank, bank),
           e_invoice = e_invoice || CAST(:e_invoice AS jsonb),
           version = version + 1
     WHERE CAST(:if_version AS bigint) IS NULL OR version = :if_version
    """
)
_FIELDS = ("legal_name", "address", "country", "tax_id", "bank", "e_invoice")


async def seller_document(connection: Statements) -> tuple[bytes, int]:
    """The seller's JSON and version."""
    return (await _READ.one(connection)).encoded()


async def update_seller(connection: AsyncConnection, changes: dict[str, object], *, if_version: int | None) -> bool:
    """Change the given fields if the seller has the version; else False."""
    values = dict.fromkeys(_FIELDS) | changes | {"if_version": if_version}
    values["e_invoice"] = json.dumps(values["e_invoice"] or {})
    return (await connection.execute(_UPDATE, values)).rowcount == 1
