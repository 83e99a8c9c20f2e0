"""The price book: list prices and contract prices, past and future; adding and withdrawing versions.

A new version replaces the one in force from its beginning on: that one ends there. Nothing else of a
version ever changes (`functions.REFUSE_CHANGE_OF_PRICE`). When the new one has an end, the price that it replaced comes
back then, as a version of its own, unless another one begins at that instant. Adding an existing version changes
nothing, so an exported book can be added repeatedly. A version that has not begun can be withdrawn; the one before it
then regains its end (`functions.WITHDRAW_PRICE`). None of this may leave a time without a list price (`holes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.holes import Article, no_new_hole
from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.catalogue import ListPrice
from ipucloud.contract.prices import PriceAddition
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.ids import new_id

# Any overlap is a conflict, by the table's exclusion constraint: prices set by an operator are never changed.
_INSTALL = sa.text(
    """
    INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, valid_to, source)
    VALUES (:id, :sku, :region, :currency, :unit_price, :valid_from, :valid_to, :source)
    ON CONFLICT DO NOTHING
    """
)


class _Covering(NamedTuple):
    """The version before a new one: in force where that begins, or a list price that `ends` there.

    `past`: the new one does not begin in the future.
    """

    id: UUID
    unit_price: Decimal
    source: str
    valid_to: datetime | None
    ends: bool
    past: bool


class _Version(NamedTuple):
    sku: str
    region: str
    currency: str
    begun: bool
    followed: bool
    restored_by: UUID | None
    """The only version that follows, if the price before comes back with it and nothing follows that one."""


class Added(NamedTuple):
    """How many of the versions are new, and how many more were added with which a previous price comes back."""

    versions: int
    restored: int


_SAME_KEY = "sku = :sku AND region = :region AND currency = :currency"
_TABLES = {"prices": _SAME_KEY, "contract_prices": f"{_SAME_KEY} AND account_id = :account_id"}


@dataclass(frozen=True, slots=True)
class _Statements:
    known: sa.TextClause
    covering: Query[_Covering]
    restoring: Query[UUID]
    end: sa.TextClause
    insert: sa.TextClause
    find: Query[_Version]


def _statements(table: str, same: str) -> _Statements:
    contract = table == "contract_prices"
    own, value = (", account_id", ", :account_id") if contract else ("", "")
    # Where a contract price ends, the list price follows. A list price must itself be followed.
    last = ">" if contract else ">="
    return _Statements(
        known=sa.text(
            f"SELECT FROM {table} WHERE {same} AND valid_from = :valid_from AND unit_price = :unit_price"
            " AND corrected_by IS NULL"
        ),
        covering=Query(
            "SELECT id, unit_price, source, valid_to, valid_to IS NOT DISTINCT FROM :valid_from AS ends,"  # noqa: S608
            f" :valid_from <= app_now() AS past FROM {table} WHERE {same}"
            f" AND valid_from < :valid_from AND (valid_to IS NULL OR valid_to {last} :valid_from) FOR UPDATE",
            _Covering,
        ),
        restoring=Query(
            f"SELECT id FROM {table} p WHERE {same} AND valid_from = :valid_from AND restores IS NOT NULL"  # noqa: S608
            f" AND valid_from > app_now() AND NOT EXISTS (SELECT FROM {table} n WHERE n.follows = p.id) FOR UPDATE",
            UUID,
        ),
        end=sa.text(f"UPDATE {table} SET valid_to = :valid_from WHERE id = :id"),  # noqa: S608
        insert=sa.text(
            f"INSERT INTO {table} (id, sku, region, currency, unit_price, valid_from, valid_to, source, follows,"
            f" follows_end, restores{own})"
            " SELECT :id, :sku, :region, :currency, :unit_price, :valid_from, CAST(:valid_to AS timestamptz),"
            " :source, CAST(:follows AS uuid), CAST(:follows_end AS timestamptz), CAST(:restores AS uuid)"
            f"{value}"
        ),
        find=Query(
            "SELECT p.sku, p.region, p.currency, p.valid_from <= app_now() AS begun,"  # noqa: S608
            f" EXISTS (SELECT FROM {table} n WHERE n.follows = p.id) AS followed,"
            f" (SELECT n.id FROM {table} n WHERE n.follows = p.id AND n.restores IS NOT NULL"
            f" AND NOT EXISTS (SELECT FROM {table} m WHERE m.follows = n.id OR m.follows = p.id AND m.id <> n.id)"
            ") AS restored_by"
            f" FROM {table} p WHERE p.id = :id FOR UPDATE",
            _Version,
        ),
    )


_LIST, _CONTRACT = (_statements(table, same) for table, same in _TABLES.items())
_PAST = Query("SELECT CAST(:valid_from AS timestamptz) <= app_now()", bool)
_CURRENCY = Query("SELECT coalesce(currency, :currency) AS currency FROM billing_accounts WHERE id = :account_id", str)
_WITHDRAW = sa.text("SELECT withdraw_price(:id)")
_ONE_AT_A_TIME = sa.text("SELECT pg_advisory_xact_lock(7220502)")


async def install_prices(connection: AsyncConnection, catalogue: Catalogue) -> int:
    """Add the catalogue's prices where none is set for any of their period; returns how many were added.

    Their source names the catalogue and the row's source there.
    """
    await connection.execute(_ONE_AT_A_TIME)
    added = 0
    for article, versions in groupby(sorted(catalogue.prices, key=_article), _article):
        try:
            async with connection.begin_nested(), no_new_hole(connection, [article]):
                count = sum([await _install(connection, version) for version in versions])
        except Problem:
            # Only some of them fit between the prices that are there; without the others they would leave a hole.
            continue
        added += count
    return added


async def one_at_a_time(connection: AsyncConnection) -> None:
    """Wait until no other transaction changes the price book, and let none until this one ends."""
    await connection.execute(_ONE_AT_A_TIME)


async def add(connection: AsyncConnection, new: Sequence[PriceAddition], *, default: str) -> Added:
    """Add all of them, in order of time, or none. `default` is the installation's currency.

    Raises `Problem` validation_failed for one that would change what was in force, state_conflict for one that reaches
    into a later version, and if a time would be left without a list price.
    """
    await connection.execute(_ONE_AT_A_TIME)
    numbered = sorted(enumerate(new), key=lambda item: item[1].valid_from)
    async with no_new_hole(connection, [Article(each.sku, each.region, each.unit_price.currency) for each in new]):
        restored = [await _add(connection, place, price, default) for place, price in numbered]
    return Added(len(restored) - restored.count(None), sum(map(bool, restored)))


async def withdraw(connection: AsyncConnection, price_id: UUID) -> None:
    """Withdraw a version that has not begun; the version before it regains its previous end.

    The version with which that price would have come back is withdrawn with it.

    Raises `Problem` not_found, or state_conflict for one that has begun or has a successor, or whose time would be left
    without a list price.
    """
    await connection.execute(_ONE_AT_A_TIME)
    for statements in (_LIST, _CONTRACT):
        version = await statements.find.one_or_none(connection, {"id": price_id})
        if version is None:
            continue
        if version.begun:
            raise Problem(
                STATE_CONFLICT, "The price is in force, or was: what it was stays. Add a version that takes its place."
            )
        if version.followed and version.restored_by is None:
            raise Problem(STATE_CONFLICT, "Another version follows this one. Withdraw that one first.")
        async with no_new_hole(connection, [Article(version.sku, version.region, version.currency)]):
            if version.restored_by is not None:
                await connection.execute(_WITHDRAW, {"id": version.restored_by})
            await connection.execute(_WITHDRAW, {"id": price_id})
        return
    raise not_found()


def _article(price: ListPrice) -> Article:
    return Article(price.sku, price.region, price.currency)


async def _install(connection: AsyncConnection, price: ListPrice) -> int:
    values = {
        **_article(price)._asdict(),
        "id": new_id(),
        "unit_price": price.unit_price,
        "valid_from": price.valid_from,
        "valid_to": price.valid_to,
        "source": f"catalogue: {price.source.id}",
    }
    return (await connection.execute(_INSTALL, values)).rowcount


async def _add(connection: AsyncConnection, place: int, price: PriceAddition, default: str) -> bool | None:
    """Whether the price before it comes back at its end; None if the version is there already."""
    statements = _LIST if price.account_id is None else _CONTRACT
    values: dict[str, object] = {
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
        "restores": None,
    }
    if (await connection.execute(statements.known, values)).first() is not None:
        return None
    await _check(connection, place, price, default)
    restoring = await statements.restoring.one_or_none(connection, values)
    if restoring is not None:
        await connection.execute(_WITHDRAW, {"id": restoring})
    covering = await statements.covering.one_or_none(connection, values)
    version_id = new_id()
    if covering is None or covering.ends:
        follows: dict[str, object] = {} if covering is None else {"follows": covering.id}
        await _insert(connection, statements, place, values | follows | {"id": version_id})
        return False
    if covering.past:
        sentence = "A price is in force at this instant: choose a later one, or correct the past (`prices correct`)."
        raise _refused(place, "valid_from", "not_in_future", sentence)
    await connection.execute(statements.end, {"valid_from": price.valid_from, "id": covering.id})
    ends = price.valid_to or covering.valid_to
    version: dict[str, object] = {
        "id": version_id,
        "valid_to": ends,
        "follows": covering.id,
        "follows_end": covering.valid_to,
    }
    await _insert(connection, statements, place, values | version)
    if ends is None or (covering.valid_to is not None and ends >= covering.valid_to):
        return False
    restored: dict[str, object] = {
        "id": new_id(),
        "unit_price": covering.unit_price,
        "source": covering.source,
        "valid_from": ends,
        "valid_to": covering.valid_to,
        "follows": version_id,
        "follows_end": covering.valid_to,
        "restores": covering.id,
    }
    await _insert(connection, statements, place, values | restored)
    return True


async def _insert(
    connection: AsyncConnection, statements: _Statements, place: int, values: Mapping[str, object]
) -> None:
    try:
        await connection.execute(statements.insert, values)
    except sa.exc.IntegrityError as error:
        if "no_overlap" not in str(error):
            raise
        raise Problem(
            STATE_CONFLICT,
            f"A later version of the price of {values['sku']} begins within the time of item {place}. End it there by "
            "`valid_to`, or begin after it.",
        ) from error


async def _check(connection: AsyncConnection, place: int, price: PriceAddition, default: str) -> None:
    """A contract has its account's currency and never reaches into the past; the list may, where it has a gap."""
    if price.account_id is None:
        return
    currency = await _CURRENCY.one_or_none(connection, {"account_id": price.account_id, "currency": default})
    if currency is None:
        raise _refused(place, "account_id", "unknown_account", "There is no such billing account.")
    if price.unit_price.currency != currency:
        raise _refused(place, "unit_price/currency", "other_currency", f"The account's currency is {currency}.")
    if await _PAST.one(connection, {"valid_from": price.valid_from}):
        raise _refused(place, "valid_from", "not_in_future", "A contract price begins in the future.")


def _refused(place: int, field: str, code: str, detail: str) -> Problem:
    fault = FieldError(f"/items/{place}/{field}", code, detail)
    return Problem(VALIDATION_FAILED, "Some values are not valid; nothing was added.", [fault])
