"""The issuer of invoices, one row that an operator sets; and the tax rates.

A new rate replaces the one in force from its first day on; earlier days are unchanged.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from importlib.resources import files
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.invoices.tax import STANDARD_KIND
from ipucloud.db.documents import Document, clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.ids import new_id

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


SHIPPED = "shipped, an example"


class TaxRate(NamedTuple):
    """A rate in [valid_from, valid_to); `rate` 0.17 is 17 %."""

    id: UUID
    country: str
    kind: str
    name: str
    rate: Decimal
    valid_from: date
    valid_to: date | None
    source: str


_ALL = Query(
    """
    SELECT id, country, kind, name, rate, valid_from, valid_to, source FROM tax_rates
     ORDER BY country, kind, valid_from
    """,
    TaxRate,
)


class RateInForce(NamedTuple):
    name: str
    rate: Decimal


class _Covering(NamedTuple):
    """The rate in force before a new one; `past`: the new one does not begin in the future."""

    id: UUID
    valid_to: date | None
    past: bool


_IN_FORCE = Query(
    """
    SELECT name, rate FROM tax_rates
     WHERE country = :country AND kind = :kind AND daterange(valid_from, valid_to) @> CAST(:day AS date)
    """,
    RateInForce,
)
_KNOWN = sa.text(
    """
    SELECT FROM tax_rates
     WHERE country = :country AND kind = :kind AND valid_from = :valid_from AND rate = :rate AND name = :name
    """
)
_COVERING = Query(
    """
    SELECT id, valid_to, :valid_from <= (app_now() AT TIME ZONE 'UTC')::date AS past FROM tax_rates
     WHERE country = :country AND kind = :kind AND valid_from < :valid_from
       AND (valid_to IS NULL OR valid_to > :valid_from)
       FOR UPDATE
    """,
    _Covering,
)
_END = sa.text("UPDATE tax_rates SET valid_to = :valid_from WHERE id = :id")
_INSERT = """
INSERT INTO tax_rates (id, country, kind, name, rate, valid_from, valid_to, source)
VALUES (:id, :country, :kind, :name, :rate, :valid_from, CAST(:valid_to AS date), :source)
"""
_ADD = sa.text(_INSERT)
_INSTALL = sa.text(f"{_INSERT} ON CONFLICT DO NOTHING")


@dataclass(frozen=True, slots=True)
class NewTaxRate:
    """A rate to add, valid until the end of the one it replaces."""

    country: str
    kind: str
    name: str
    rate: Decimal
    valid_from: date
    source: str


async def all_rates(connection: Statements) -> Sequence[TaxRate]:
    """Every rate that ever was or will be in force, by country."""
    return await _ALL.all(connection)


async def rate_on(connection: Statements, country: str, day: date) -> RateInForce | None:
    """Name and amount of the standard rate in force on the day; None if none is set."""
    return await _IN_FORCE.one_or_none(connection, {"country": country, "kind": STANDARD_KIND, "day": day})


async def add_rate(connection: AsyncConnection, new: NewTaxRate) -> None:
    """Add a rate; nothing happens when it is there already.

    Raises `Problem` validation_failed when another rate was in force on its first day already, state_conflict when a
    later one is there.
    """
    values = {name: getattr(new, name) for name in NewTaxRate.__slots__}
    if (await connection.execute(_KNOWN, values)).first() is not None:
        return
    covering = await _COVERING.one_or_none(connection, values)
    if covering is not None:
        if covering.past:
            fault = FieldError("/valid_from", "not_in_future", "A rate is in force on this day: choose a later one.")
            raise Problem(VALIDATION_FAILED, "Some values are not valid.", [fault])
        await connection.execute(_END, {"valid_from": new.valid_from, "id": covering.id})
    try:
        until = None if covering is None else covering.valid_to
        await connection.execute(_ADD, values | {"id": new_id(), "valid_to": until})
    except sa.exc.IntegrityError as error:
        if "no_overlap" not in str(error):
            raise
        raise Problem(STATE_CONFLICT, "A later rate of the same country and kind is set. Begin after it.") from error


async def install_shipped_rates(connection: AsyncConnection) -> int:
    """Add the product's rates where none is set for any of their period; returns how many were added."""
    text = (files("ipucloud.billing.invoices") / "data" / "tax_rates.toml").read_text("utf-8")
    added = 0
    for row in tomllib.loads(text)["rows"]:
        values = {**row, "rate": Decimal(row["rate"]), "id": new_id(), "valid_to": None, "source": SHIPPED}
        added += (await connection.execute(_INSTALL, values)).rowcount
    return added
