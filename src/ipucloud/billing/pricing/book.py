"""The price book: list prices and contract prices, past and future; reading it and adding versions.

A new version replaces the one in force from its beginning on: that one ends there. Nothing else of a
version ever changes (`functions.REFUSE_CHANGE_OF_PRICE`). Adding an existing version changes
nothing, so an exported book can be added repeatedly. A version that has not begun can be withdrawn; the one before it
then regains its end (`functions.WITHDRAW_PRICE`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.queries import BookedPrice
from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.prices import BookedPriceOut, PriceAddition
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money

# Any overlap is a conflict, by the table's exclusion constraint: prices set by an operator are never changed.
_INSTALL = sa.text(
    """
    INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, valid_to, source)
    VALUES (:id, :sku, :region, :currency, :unit_price, :valid_from, :valid_to, :source)
    ON CONFLICT DO NOTHING
    """
)


class _Booked(NamedTuple):
    id: UUID
    account_id: UUID | None
    price: BookedPrice


class _Covering(NamedTuple):
    """The version in force before a new one; `past`: the new one does not begin in the future."""

    id: UUID
    valid_to: datetime | None
    past: bool


class _Found(NamedTuple):
    begun: bool
    followed: bool


_BOOK = Query(
    """
    SELECT id, NULL::uuid AS account_id, sku, region, currency, unit_price, valid_from, valid_to, source FROM prices
    UNION ALL
    SELECT id, account_id, sku, region, currency, unit_price, valid_from, valid_to, source FROM contract_prices
     ORDER BY account_id NULLS FIRST, sku, region, currency, valid_from
    """,
    _Booked,
)
_SAME_KEY = "sku = :sku AND region = :region AND currency = :currency"
_TABLES = {"prices": _SAME_KEY, "contract_prices": f"{_SAME_KEY} AND account_id = :account_id"}


@dataclass(frozen=True, slots=True)
class _Statements:
    known: sa.TextClause
    covering: Query[_Covering]
    end: sa.TextClause
    insert: sa.TextClause
    find: Query[_Found]


def _statements(table: str, same: str) -> _Statements:
    own, value = (", account_id", ", :account_id") if table == "contract_prices" else ("", "")
    return _Statements(
        known=sa.text(f"SELECT FROM {table} WHERE {same} AND valid_from = :valid_from AND unit_price = :unit_price"),
        covering=Query(
            f"SELECT id, valid_to, :valid_from <= app_now() AS past FROM {table} WHERE {same}"  # noqa: S608
            " AND valid_from < :valid_from AND (valid_to IS NULL OR valid_to > :valid_from) FOR UPDATE",
            _Covering,
        ),
        end=sa.text(f"UPDATE {table} SET valid_to = :valid_from WHERE id = :id"),  # noqa: S608
        insert=sa.text(
            f"INSERT INTO {table} (id, sku, region, currency, unit_price, valid_from, valid_to, source, follows,"
            f" follows_end{own})"
            " SELECT :id, :sku, :region, :currency, :unit_price, :valid_from, CAST(:valid_to AS timestamptz),"
            f" :source, CAST(:follows AS uuid), CAST(:follows_end AS timestamptz){value}"
        ),
        find=Query(
            f"SELECT p.valid_from <= app_now() AS begun, EXISTS (SELECT FROM {table} n WHERE n.follows = p.id) AS"  # noqa: S608
            f" followed FROM {table} p WHERE p.id = :id FOR UPDATE",
            _Found,
        ),
    )


_LIST, _CONTRACT = (_statements(table, same) for table, same in _TABLES.items())
_PAST = Query("SELECT CAST(:valid_from AS timestamptz) <= app_now()", bool)
_ACCOUNT = Query("SELECT EXISTS (SELECT FROM billing_accounts WHERE id = :account_id)", bool)
_WITHDRAW = sa.text("SELECT withdraw_price(:id)")
_ONE_AT_A_TIME = sa.text("SELECT pg_advisory_xact_lock(7220502)")


async def install_prices(connection: AsyncConnection, catalogue: Catalogue) -> int:
    """Add the catalogue's prices where none is set for any of their period; returns how many were added.

    Their source names the catalogue and the row's source there.
    """
    added = 0
    for price in catalogue.prices:
        inserted = await connection.execute(
            _INSTALL,
            {
                "id": new_id(),
                "sku": price.sku,
                "region": price.region,
                "currency": price.currency,
                "unit_price": price.unit_price,
                "valid_from": price.valid_from,
                "valid_to": price.valid_to,
                "source": f"catalogue: {price.source.id}",
            },
        )
        added += inserted.rowcount
    return added


async def book(connection: Statements) -> Sequence[BookedPriceOut]:
    """Every version that ever was or will be in force: list prices first, then account by account."""
    return [
        BookedPriceOut(
            id=version,
            account_id=account_id,
            sku=price.sku,
            region=price.region,
            unit_price=Money.of(price.unit_price, price.currency),
            valid_from=price.valid_from,
            valid_to=price.valid_to,
            source=price.source,
        )
        for version, account_id, price in await _BOOK.all(connection)
    ]


async def add(connection: AsyncConnection, new: Sequence[PriceAddition]) -> int:
    """Add all of them, in order of time, or none; returns how many are new.

    Raises `Problem` validation_failed for one that would change what was in force, state_conflict for one that reaches
    into a later version.
    """
    await connection.execute(_ONE_AT_A_TIME)
    numbered = sorted(enumerate(new), key=lambda item: item[1].valid_from)
    return sum([await _add(connection, place, price) for place, price in numbered])


async def withdraw(connection: AsyncConnection, price_id: UUID) -> None:
    """Withdraw a version that has not begun; the version before it regains its previous end.

    Raises `Problem` not_found, or state_conflict for one that has begun or has a successor.
    """
    await connection.execute(_ONE_AT_A_TIME)
    for statements in (_LIST, _CONTRACT):
        found = await statements.find.one_or_none(connection, {"id": price_id})
        if found is None:
            continue
        if found.begun:
            raise Problem(
                STATE_CONFLICT, "The price is in force, or was: what it was stays. Add a version that takes its place."
            )
        if found.followed:
            raise Problem(STATE_CONFLICT, "Another version follows this one. Withdraw that one first.")
        await connection.execute(_WITHDRAW, {"id": price_id})
        return
    raise not_found()


async def _add(connection: AsyncConnection, place: int, price: PriceAddition) -> bool:
    statements = _LIST if price.account_id is None else _CONTRACT
    values = {
        "account_id": price.account_id,
        "sku": price.sku,
        "region": price.region,
        "currency": price.unit_price.currency,
        "unit_price": price.unit_price.amount,
        "valid_from": price.valid_from,
        "valid_to": price.valid_to,
        "source": price.source,
        "follows": None,
        "follows_end": None,
    }
    if (await connection.execute(statements.known, values)).first() is not None:
        return False
    await _check(connection, place, price)
    covering = await statements.covering.one_or_none(connection, values)
    if covering is not None:
        if covering.past:
            raise _refused(
                place, "valid_from", "not_in_future", "A price is in force at this instant: choose a later one."
            )
        await connection.execute(statements.end, {"valid_from": price.valid_from, "id": covering.id})
        values |= {
            "valid_to": price.valid_to or covering.valid_to,
            "follows": covering.id,
            "follows_end": covering.valid_to,
        }
    try:
        await connection.execute(statements.insert, values | {"id": new_id()})
    except sa.exc.IntegrityError as error:
        if "no_overlap" not in str(error):
            raise
        raise Problem(
            STATE_CONFLICT,
            f"A later version of the price of {price.sku} begins within the time of item {place}. End it there by "
            "`valid_to`, or begin after it.",
        ) from error
    return True


async def _check(connection: AsyncConnection, place: int, price: PriceAddition) -> None:
    """A contract never reaches into the past; the list may, where it has a gap."""
    if price.account_id is None:
        return
    if not await _ACCOUNT.one(connection, {"account_id": price.account_id}):
        raise _refused(place, "account_id", "unknown_account", "There is no such billing account.")
    if await _PAST.one(connection, {"valid_from": price.valid_from}):
        raise _refused(place, "valid_from", "not_in_future", "A contract price begins in the future.")


def _refused(place: int, field: str, code: str, detail: str) -> Problem:
    fault = FieldError(f"/items/{place}/{field}", code, detail)
    return Problem(VALIDATION_FAILED, "Correct the fields named in `errors`; nothing was added.", [fault])
