"""What a site shows of its hardware, kept as it was read last; what changed becomes events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.expected.tables import Happened
from ipucloud.inventory.health.codes import Kind


class Shown(NamedTuple):
    """What a machine or host shows of itself; None: nothing, in this reading.

    `parts` has the firmware of its parts as JSON with sorted keys, `part_serials` their serial numbers. `pod` and
    `slot` are its place by the V-IPU controller.
    """

    name: str
    serial: str | None = None
    model: str | None = None
    firmware: str | None = None
    parts: str = "{}"
    pod: str | None = None
    slot: int | None = None
    part_serials: str = "{}"

    def over(self, before: Shown) -> Shown:
        """This, with what it does not show as it was before."""
        kept = before._asdict()
        return Shown(**{name: kept[name] if value in {None, "{}"} else value for name, value in self._asdict().items()})


class Known(NamedTuple):
    """A machine or host as it was shown before; `missing`: not in the last reading."""

    shown: Shown
    missing: bool


class Change(NamedTuple):
    """Something that happened to a machine or host, in words for operators."""

    name: str
    type: Happened
    detail: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What a reading changes: rows that are new, or other than before; names that are not there any more."""

    rows: Sequence[Shown]
    missing: Sequence[str]
    changes: Sequence[Change]


_DIGEST = Query("SELECT digest FROM shown_inventories WHERE region = :region AND kind = :kind", str)
_KNOWN = Query(
    """
    SELECT name, serial, model, firmware, parts, pod, slot, part_serials, missing_since IS NOT NULL AS missing
      FROM shown_hardware WHERE region = :region AND kind = :kind
    """,
    Known,
)
_KEEP_DIGEST = sa.text(
    """
    INSERT INTO shown_inventories (region, kind, digest) VALUES (:region, :kind, :digest)
    ON CONFLICT (region, kind) DO UPDATE SET digest = excluded.digest
    """
)
_WRITE = sa.text(
    """
    INSERT INTO shown_hardware (region, kind, name, serial, model, firmware, parts, pod, slot, part_serials)
    SELECT :region, :kind, read.*
      FROM unnest(CAST(:name AS text[]), CAST(:serial AS text[]), CAST(:model AS text[]), CAST(:firmware AS text[]),
                  CAST(:parts AS text[]), CAST(:pod AS text[]), CAST(:slot AS int[]),
                  CAST(:part_serials AS text[])) AS read
    ON CONFLICT (region, kind, name) DO UPDATE
       SET serial = excluded.serial, model = excluded.model, firmware = excluded.firmware, parts = excluded.parts,
           pod = excluded.pod, slot = excluded.slot, part_serials = excluded.part_serials,
           changed_at = app_now(), missing_since = NULL
    """
)
_MISSING = sa.text(
    """
    UPDATE shown_hardware SET missing_since = app_now()
     WHERE region = :region AND kind = :kind AND name = ANY (CAST(:names AS text[]))
    """
)
_RECORD = sa.text(
    """
    INSERT INTO hardware_events (region, kind, name, type, detail, actor)
    SELECT :region, :kind, change.name, change.type, change.detail, CAST(:actor AS text)
      FROM unnest(CAST(:names AS text[]), CAST(:types AS text[]), CAST(:details AS text[]))
           AS change (name, type, detail)
    """
)


def digest_of(shown: Collection[Shown]) -> str:
    """Equal for equal readings."""
    return blake2b(repr(sorted(shown)).encode(), digest_size=16).hexdigest()


async def is_known(connection: Statements, region: str, kind: Kind, digest: str) -> bool:
    """Whether a reading with this digest was the last that was written."""
    return await _DIGEST.one_or_none(connection, {"region": region, "kind": kind}) == digest


async def write_shown(connection: AsyncConnection, region: str, kind: Kind, shown: Collection[Shown]) -> Counter[str]:
    """Keep what a complete reading showed, and record what changed; the number of events by type."""
    key = {"region": region, "kind": kind}
    difference = compare({each.shown.name: each for each in await _KNOWN.all(connection, key)}, shown)
    if difference.rows:
        columns = {name: [getattr(row, name) for row in difference.rows] for name in Shown._fields}
        await connection.execute(_WRITE, key | columns)
    if difference.missing:
        await connection.execute(_MISSING, key | {"names": difference.missing})
    await record_changes(connection, region, kind, difference.changes)
    await connection.execute(_KEEP_DIGEST, key | {"digest": digest_of(shown)})
    return Counter(change.type for change in difference.changes)


async def record_changes(
    connection: AsyncConnection, region: str, kind: Kind, changes: Sequence[Change], *, actor: str | None = None
) -> None:
    """Append events about hardware of one kind. `actor`: the id of the operator's token that caused them."""
    if not changes:
        return
    names, types, details = zip(*changes, strict=True)
    columns = {"names": list(names), "types": list(types), "details": list(details)}
    await connection.execute(_RECORD, {"region": region, "kind": kind, "actor": actor} | columns)


def compare(known: Mapping[str, Known], shown: Collection[Shown]) -> Difference:
    """What a complete reading changes. Pure."""
    rows: list[Shown] = []
    changes: list[Change] = []
    for each in shown:
        before = known.get(each.name)
        now = each if before is None else each.over(before.shown)
        if before is None or before.missing or now != before.shown:
            rows.append(now)
        if before is not None:
            changes += _changes(before.shown, now)
    read = {each.name for each in shown}
    missing = [name for name, each in known.items() if name not in read and not each.missing]
    return Difference(rows, missing, changes)


def _changes(before: Shown, now: Shown) -> Iterator[Change]:
    for type_, name in (
        (Happened.SERIAL_CHANGED, "serial"),
        (Happened.MODEL_CHANGED, "model"),
        (Happened.FIRMWARE_CHANGED, "firmware"),
    ):
        was, is_ = getattr(before, name), getattr(now, name)
        if was is not None and was != is_:
            yield Change(now.name, type_, f"{name} {was} became {is_}")
    yield from _of_parts(now.name, Happened.FIRMWARE_CHANGED, "firmware", before.parts, now.parts)
    yield from _of_parts(now.name, Happened.SERIAL_CHANGED, "serial", before.part_serials, now.part_serials)
    if before.pod is not None and (before.pod, before.slot) != (now.pod, now.slot):
        yield Change(
            now.name, Happened.MOVED, f"pod {before.pod} slot {before.slot} became pod {now.pod} slot {now.slot}"
        )


def _of_parts(name: str, type_: Happened, what: str, before: str, now: str) -> Iterator[Change]:
    """Changes of parts that were shown before too; `before` and `now` are JSON."""
    if before == now:
        return
    was, is_ = orjson.loads(before), orjson.loads(now)
    for part in sorted(was.keys() & is_.keys()):
        if was[part] != is_[part]:
            yield Change(name, type_, f"{what} of {part} {was[part]} became {is_[part]}")
