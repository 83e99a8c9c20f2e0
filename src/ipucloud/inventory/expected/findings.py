"""Findings that keep new clusters away from registered hardware, as facts for health reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.health.codes import CODES, Code, Kind, Source
from ipucloud.inventory.health.judge import Fact

PREVENTING = (Code.SURPLUS, Code.WRONG_SERIAL, Code.WRONG_MODEL, Code.CABLING)
"""Findings of which new clusters must not get the hardware: it is not what is sold, or not where it is sold."""

SHOWN_BY: Mapping[Kind, Source] = {"machine": Source.BMC, "host": Source.HOST}
"""Who shows that hardware exists, and its serial number and model."""


class _Row(NamedTuple):
    kind: Kind
    object_id: UUID
    code: Code
    expected: str | None
    shown: str | None


_PREVENTING = Query(
    """
    SELECT f.kind, coalesce(m.id, h.id) AS object_id, f.code, f.expected, f.shown
      FROM inventory_findings AS f
      LEFT JOIN (machines AS m JOIN pods AS p ON p.id = m.pod_id)
             ON f.kind = 'machine' AND m.name = f.name AND p.region = f.region
      LEFT JOIN hosts AS h ON f.kind = 'host' AND h.name = f.name AND h.region = f.region
     WHERE f.region = :region AND f.code = ANY (:codes) AND coalesce(m.id, h.id) IS NOT NULL
    """,
    _Row,
)


async def inventory_facts(connection: Statements, region: str) -> list[Fact]:
    """What prevents allocation of a region's machines and hosts, by the last readings that were written."""
    rows = await _PREVENTING.all(connection, {"region": region, "codes": list(PREVENTING)})
    return [Fact(each.kind, each.object_id, source_of(each.kind, each.code), each.code, _detail(each)) for each in rows]


def source_of(kind: Kind, code: Code) -> Source:
    """Who shows what a finding is about: the first source that reports the code of such an object."""
    reporting = CODES[kind][code].sources
    return next(source for source in (Source.VIPU, SHOWN_BY[kind]) if source in reporting)


def _detail(row: _Row) -> str:
    if row.code is Code.SURPLUS:
        return f"not in the expected inventory, serial number {row.shown or 'unknown'}"
    return f"expected {row.expected}, shown {row.shown}"
