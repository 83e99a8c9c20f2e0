"""Corrections of past prices: another price takes the place of what the price book has for a period.

Versions that reach into the period end where it begins, or begin where it ends, and keep their ids; a version that lies
within it keeps no time at all. What follows the period of a version that also goes before it becomes a version of its
own. Elsewhere no minute changes its price, and no hole is made. Only a recorded correction may do this
(`functions.CUT_PRICE`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.pricing.holes import Article, no_new_hole
from ipucloud.contract.price_corrections import PriceCorrectionBody
from ipucloud.db.rows import Query
from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import plain


class Version(NamedTuple):
    """A version of the price book, in [valid_from, valid_to)."""

    id: UUID
    unit_price: Decimal
    valid_from: datetime
    valid_to: datetime | None
    source: str


@dataclass(frozen=True, slots=True)
class Period:
    """What a correction is for: a price, contract or list, in [since, until); `until` None: for ever."""

    article: Article
    account_id: UUID | None
    since: datetime
    until: datetime | None

    def values(self) -> dict[str, object]:
        return {
            **self.article._asdict(),
            "account_id": self.account_id,
            "since": self.since,
            "until": self.until,
        }


@dataclass(frozen=True, slots=True)
class _Statements:
    overlapping: Query[Version]
    following: Query[datetime | None]
    insert: sa.TextClause


_SAME = "sku = :sku AND region = :region AND currency = :currency"


def _statements(table: str) -> _Statements:
    contract = table == "contract_prices"
    same = f"{_SAME} AND account_id = :account_id" if contract else _SAME
    own, value = (", account_id", ", :account_id") if contract else ("", "")
    return _Statements(
        overlapping=Query(
            f"SELECT id, unit_price, valid_from, valid_to, source FROM {table} WHERE {same}"  # noqa: S608
            " AND tstzrange(valid_from, valid_to) && tstzrange(:since, CAST(:until AS timestamptz))"
            " ORDER BY valid_from FOR UPDATE",
            Version,
        ),
        following=Query(f"SELECT min(valid_from) FROM {table} WHERE {same} AND valid_from > :since", datetime),  # noqa: S608
        insert=sa.text(
            f"INSERT INTO {table} (id, sku, region, currency, unit_price, valid_from, valid_to, source{own})"  # noqa: S608
            " VALUES (:id, :sku, :region, :currency, :unit_price, :valid_from, CAST(:valid_to AS timestamptz), :source"
            f"{value})"
        ),
    )


_OF = {False: _statements("prices"), True: _statements("contract_prices")}
_RECORD = sa.text(
    """
    INSERT INTO price_corrections (id, account_id, sku, region, currency, unit_price, valid_from, valid_to, reason,
                                   requested_by, version_id)
    VALUES (:id, :account_id, :sku, :region, :currency, :unit_price, :since, :until, :reason,
            :requested_by, :version_id)
    """
)
_CUT = sa.text("SELECT cut_price(:id, :correction)")
_FOLLOW = sa.text("SELECT follow_price(:id, CAST(:former AS uuid[]))")
_CORRECTING = sa.text("SELECT set_config('ipucloud.correction', :id, true)")
_NOTE = sa.text("SELECT note_dirty_hours('correction', :since, CAST(:until AS timestamptz))")
_NOW = Query("SELECT app_now()", datetime)


async def period_of(connection: AsyncConnection, body: PriceCorrectionBody) -> Period:
    """The period as a whole; a missing end is that of the version in force at its beginning, or the next one's start.

    Raises `Problem` validation_failed for one that does not begin, or is said to end, in the past.
    """
    now = await _NOW.one(connection)
    faults = []
    if body.valid_from.microsecond or (body.valid_to is not None and body.valid_to.microsecond):
        faults.append(FieldError("/valid_from", "not_whole", "Prices must change at whole seconds."))
    if body.valid_from > now:
        faults.append(
            FieldError("/valid_from", "not_in_past", "A price of the future is added (`prices create`), not corrected.")
        )
    if body.valid_to is not None and not body.valid_from < body.valid_to <= now:
        sentence = "It must lie in the past and after `valid_from`; leave it out to correct the present price too."
        faults.append(FieldError("/valid_to", "not_in_past", sentence))
    if faults:
        raise Problem(VALIDATION_FAILED, "Some values are not valid; nothing was corrected.", faults)
    article = Article(body.sku, body.region, body.unit_price.currency)
    period = Period(article, body.account_id, body.valid_from, body.valid_to)
    if body.valid_to is not None:
        return period
    statements = _OF[body.account_id is not None]
    held = await statements.overlapping.all(connection, period.values())
    if held and held[0].valid_from <= period.since:
        return replace(period, until=held[0].valid_to)
    return replace(period, until=await statements.following.one(connection, period.values()))


async def overlapped(connection: AsyncConnection, period: Period) -> list[Version]:
    """The versions that a correction of the period takes time from."""
    return await _OF[period.account_id is not None].overlapping.all(connection, period.values())


def fingerprint(period: Period, unit_price: Decimal, versions: list[Version]) -> str:
    """Changes when the correction would replace something else, or be something else."""
    return sha256(repr((period, plain(unit_price), versions)).encode()).hexdigest()[:32]


async def correct_book(
    connection: AsyncConnection, period: Period, unit_price: Decimal, *, reason: str, requested_by: UUID
) -> UUID:
    """Record the correction and write it into the price book; returns its id. Hours are not rated again by this.

    Raises `Problem` state_conflict if a time would be left without a list price.
    """
    correction, version = new_id(), new_id()
    statements, values = _OF[period.account_id is not None], period.values()
    record = {"id": correction, "version_id": version, "unit_price": unit_price, "reason": reason}
    async with no_new_hole(connection, [period.article]):
        await connection.execute(_RECORD, values | record | {"requested_by": requested_by})
        await connection.execute(_CORRECTING, {"id": str(correction)})
        former = await statements.overlapping.all(connection, values)
        for price in former:
            await connection.execute(_CUT, {"id": price.id, "correction": correction})
        failpoint("price_correction.versions_cut")
        added = Version(version, unit_price, period.since, period.until, f"correction: {reason}"[:200])
        await _insert(connection, statements, values, added, former)
        for price in former:
            if period.until is not None and price.valid_from < period.since and _goes_on(price, period):
                rest = Version(new_id(), price.unit_price, period.until, price.valid_to, price.source)
                await _insert(connection, statements, values, rest, former)
        await connection.execute(_CORRECTING, {"id": ""})
    return correction


async def note_hours(connection: AsyncConnection, period: Period) -> None:
    """Have every closed hour of the period rated again."""
    await connection.execute(_NOTE, period.values())


def _goes_on(version: Version, period: Period) -> bool:
    """Whether the version reaches beyond the period."""
    return period.until is not None and (version.valid_to is None or version.valid_to > period.until)


async def _insert(
    connection: AsyncConnection,
    statements: _Statements,
    values: Mapping[str, object],
    version: Version,
    former: list[Version],
) -> None:
    await connection.execute(statements.insert, {**values, **version._asdict()})
    if former and version.valid_to is not None:
        await connection.execute(_FOLLOW, {"id": version.id, "former": [each.id for each in former]})
