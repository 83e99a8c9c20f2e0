"""The one answer of all live reports of a machine or host: its health, whether it is in maintenance, may be allocated.

It is written in the transaction that writes the reports, after the objects' rows were locked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import CODES, Code, Health, Kind
from ipucloud.inventory.settle import settle

_LOCK = {
    kind: sa.text(f"SELECT id FROM {kind}s WHERE id = ANY (CAST(:ids AS uuid[])) ORDER BY id FOR NO KEY UPDATE")  # noqa: S608  # our own names
    for kind in CODES
}


def _among(codes: Iterable[Code]) -> str:
    return f"live.codes && ARRAY[{', '.join(repr(code.value) for code in codes)}]"


def _health(kind: Kind) -> str:
    """SQL for the worst health that the live codes declare."""
    cases = [
        f"WHEN {_among(code for code, declared in CODES[kind].items() if declared.health is health)} THEN '{health}'"
        for health in reversed(Health)
        if health is not Health.OK
    ]
    return f"CASE {' '.join(cases)} ELSE '{Health.OK}' END"


_POD = {"machine": "object.pod_id", "host": "(SELECT pod_id FROM machines WHERE id = object.machine_id)"}


def _merge(kind: Kind) -> Query[UUID]:
    """Gives the pods whose machines, or whose machines' own hosts, changed."""
    maintained = _among(code for code, declared in CODES[kind].items() if declared.maintenance)
    return Query(
        f"""
        WITH changed AS (
        UPDATE {kind}s AS object
           SET health = merged.health, maintenance = merged.maintenance, allocatable = merged.allocatable
          FROM (
            SELECT live.id, {_health(kind)} AS health, {maintained} AS maintenance,
                   NOT live.prevented AS allocatable
              FROM (
                SELECT asked.id, coalesce(array_agg(r.code) FILTER (WHERE r.id IS NOT NULL), '{{}}') AS codes,
                       coalesce(bool_or(r.allocation = 'prevented'), false) AS prevented
                  FROM unnest(CAST(:ids AS uuid[])) AS asked (id)
                  LEFT JOIN health_reports r
                         ON r.{kind}_id = asked.id AND r.cleared_at IS NULL AND r.confirmed_at IS NOT NULL
                 GROUP BY asked.id) AS live) AS merged
         WHERE object.id = merged.id
           AND (object.health, object.maintenance, object.allocatable)
               IS DISTINCT FROM (merged.health, merged.maintenance, merged.allocatable)
        RETURNING {_POD[kind]} AS pod_id)
        SELECT DISTINCT pod_id FROM changed WHERE pod_id IS NOT NULL
        """,  # noqa: S608  # our own names
        UUID,
    )


_MERGE = {kind: _merge(kind) for kind in CODES}


async def lock(connection: AsyncConnection, kind: Kind, ids: Collection[UUID]) -> None:
    """Lock the objects' rows, in one order. A cluster that holds one of them must be locked before."""
    await connection.execute(_LOCK[kind], {"ids": sorted(ids)})


async def merge(connection: AsyncConnection, kind: Kind, ids: Collection[UUID]) -> None:
    """Write what the live reports of these objects say. Their rows must be locked: the reports are read once."""
    await settle(connection, await _MERGE[kind].all(connection, {"ids": sorted(ids)}))
