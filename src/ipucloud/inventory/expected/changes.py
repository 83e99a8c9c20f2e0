"""Changing what an operator expects of a region's hardware: as a whole, or by accepting what it shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.expected.shown import Change, record_changes
from ipucloud.inventory.expected.tables import Happened
from ipucloud.inventory.health.codes import Kind


class Changed(NamedTuple):
    """How many machines and hosts an inventory has now more, other, and less than before."""

    added: int
    changed: int
    removed: int


class Finding(NamedTuple):
    """Where hardware differs from what is expected."""

    kind: Kind
    name: str
    code: str
    expected: str | None
    shown: str | None


class DuplicateSerial(NamedTuple):
    """A serial number that another machine or host of the same kind is expected to have."""

    kind: Kind
    name: str
    serial: str | None


# Nobody else changes an inventory meanwhile: serial numbers are unique over all regions.
_LOCK = sa.text("LOCK TABLE expected_hardware IN SHARE ROW EXCLUSIVE MODE")
_ENTER = sa.text(
    """
    INSERT INTO expected_inventories (region, changed_by) VALUES (:region, :token)
    ON CONFLICT (region) DO UPDATE SET changed_by = excluded.changed_by, changed_at = app_now()
    """
)
_REPLACE = Query(
    """
    WITH items AS (
      SELECT * FROM jsonb_to_recordset(CAST(:items AS jsonb))
               AS item (kind text, name text, serial text, model text, firmware text, rack text, pod text, slot int)),
    removed AS (
      DELETE FROM expected_hardware AS e
       WHERE region = :region AND NOT EXISTS (SELECT FROM items WHERE (items.kind, items.name) = (e.kind, e.name))
      RETURNING 1),
    written AS (
      INSERT INTO expected_hardware AS e (region, kind, name, serial, model, firmware, rack, pod, slot)
      SELECT :region, items.* FROM items
      ON CONFLICT (region, kind, name) DO UPDATE
         SET serial = excluded.serial, model = excluded.model, firmware = excluded.firmware, rack = excluded.rack,
             pod = excluded.pod, slot = excluded.slot, changed_at = app_now()
       WHERE (e.serial, e.model, e.firmware, e.rack, e.pod, e.slot) IS DISTINCT FROM
             (excluded.serial, excluded.model, excluded.firmware, excluded.rack, excluded.pod, excluded.slot)
      RETURNING xmax = 0 AS is_new)
    SELECT (SELECT count(*) FROM written WHERE is_new) AS added,
           (SELECT count(*) FROM written WHERE NOT is_new) AS changed, (SELECT count(*) FROM removed) AS removed
    """,
    Changed,
)
_DUPLICATE_SERIALS = Query(
    """
    SELECT e.kind, e.name, e.serial FROM expected_hardware AS e
     WHERE e.region = :region AND e.serial IS NOT NULL
       AND EXISTS (SELECT FROM expected_hardware AS other
                    WHERE (other.kind, other.serial) = (e.kind, e.serial)
                      AND (other.region, other.name) <> (e.region, e.name))
     ORDER BY e.kind, e.name LIMIT 20
    """,
    DuplicateSerial,
)
_REMOVE = Query(
    """
    WITH gone AS (DELETE FROM expected_inventories WHERE region = :region RETURNING 1) SELECT count(*) FROM gone
    """,
    int,
)
_FINDINGS = Query(
    """
    SELECT kind, name, code, expected, shown FROM inventory_findings
     WHERE region = :region
       AND (CAST(:everything AS boolean)
            OR (kind = 'machine' AND name = ANY (CAST(:machines AS text[])))
            OR (kind = 'host' AND name = ANY (CAST(:hosts AS text[]))))
     ORDER BY kind, name, code
    """,
    Finding,
)
_ACCEPT = Query(
    """
    WITH finding AS (
      SELECT * FROM jsonb_to_recordset(CAST(:findings AS jsonb)) AS item (kind text, name text, codes text[])),
    shown AS (
      SELECT s.*, finding.codes FROM finding JOIN shown_hardware AS s
          ON (s.region, s.kind, s.name) = (:region, finding.kind, finding.name)),
    removed AS (
      DELETE FROM expected_hardware AS e USING finding
       WHERE (e.region, e.kind, e.name) = (:region, finding.kind, finding.name) AND 'missing' = ANY (finding.codes)
      RETURNING 1),
    added AS (
      INSERT INTO expected_hardware (region, kind, name, serial, model, firmware, pod, slot)
      SELECT region, kind, name, serial, model, firmware, pod, slot FROM shown WHERE 'surplus' = ANY (codes)
      RETURNING 1),
    changed AS (
      UPDATE expected_hardware AS e
         SET serial = CASE WHEN 'wrong_serial' = ANY (codes) THEN shown.serial ELSE e.serial END,
             model = CASE WHEN 'wrong_model' = ANY (codes) THEN shown.model ELSE e.model END,
             firmware = CASE WHEN 'firmware_differs' = ANY (codes) THEN shown.firmware ELSE e.firmware END,
             pod = CASE WHEN 'cabling' = ANY (codes) THEN shown.pod ELSE e.pod END,
             slot = CASE WHEN 'cabling' = ANY (codes) THEN shown.slot ELSE e.slot END,
             changed_at = app_now()
        FROM shown
       WHERE (e.region, e.kind, e.name) = (shown.region, shown.kind, shown.name)
         AND NOT codes && ARRAY['missing', 'surplus']
      RETURNING 1)
    SELECT (SELECT count(*) FROM added) AS added, (SELECT count(*) FROM changed) AS changed,
           (SELECT count(*) FROM removed) AS removed
    """,
    Changed,
)


async def replace(
    connection: AsyncConnection, region: str, items: Sequence[Mapping[str, object]], token: str
) -> Changed:
    """Expect exactly these items of a region. Each has the columns of `expected_hardware` from `kind` on."""
    await start(connection, region, token)
    return await _REPLACE.one(connection, {"region": region, "items": orjson.dumps(items).decode()})


async def start(connection: AsyncConnection, region: str, token: str) -> None:
    """Have an expected inventory of a region; if there was none, it is empty."""
    await connection.execute(_LOCK)
    await connection.execute(_ENTER, {"region": region, "token": token})


async def open_findings(
    connection: AsyncConnection, region: str, *, machines: Sequence[str], hosts: Sequence[str], everything: bool
) -> list[Finding]:
    """The findings about the named hardware, or about all of a region; nobody changes its inventory meanwhile."""
    await connection.execute(_LOCK)
    chosen = {"machines": list(machines), "hosts": list(hosts), "everything": everything}
    return await _FINDINGS.all(connection, {"region": region} | chosen)


async def accept(
    connection: AsyncConnection, region: str, findings: Sequence[Finding], *, reason: str, token: str
) -> Changed:
    """Expect what the hardware of these findings shows, and record that in its history."""
    codes: defaultdict[tuple[Kind, str], list[str]] = defaultdict(list)
    changes: defaultdict[Kind, list[Change]] = defaultdict(list)
    for finding in findings:
        codes[finding.kind, finding.name].append(finding.code)
        detail = f"{finding.code}, expected {finding.expected}, shown {finding.shown}: {reason}"
        changes[finding.kind].append(Change(finding.name, Happened.ACCEPTED, detail))
    await start(connection, region, token)
    items = [{"kind": kind, "name": name, "codes": found} for (kind, name), found in codes.items()]
    changed = await _ACCEPT.one(connection, {"region": region, "findings": orjson.dumps(items).decode()})
    for kind, of_kind in changes.items():
        await record_changes(connection, region, kind, of_kind, actor=token)
    return changed


async def duplicate_serials(connection: AsyncConnection, region: str) -> list[DuplicateSerial]:
    """Hardware of a region with a serial number that other hardware has too. The commit would fail."""
    return await _DUPLICATE_SERIALS.all(connection, {"region": region})


async def remove(connection: AsyncConnection, region: str) -> bool:
    """Expect nothing of a region any more; False when nothing was."""
    return await _REMOVE.one(connection, {"region": region}) > 0
