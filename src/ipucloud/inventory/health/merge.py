"""The one answer of all live reports of a machine or host: its health, whether it is in maintenance, may be allocated.

It is written in the transaction that writes the reports, after the objects' rows were locked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.functions import settle_pods
from ipucloud.inventory.health.codes import CODES, Code, Health, Kind

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


FOLLOWING: Mapping[Kind, tuple[str, ...]] = {
    "machine": ("health", "maintenance", "allocatable", "validating"),
    "host": ("health", "maintenance", "allocatable"),
}
"""The columns that follow from the reports."""


def merged_reports(kind: Kind) -> str:
    """SQL for the columns `FOLLOWING` of the row `object`, by its live, confirmed reports.

    A machine is `validating` while nothing but its validation keeps it from clusters.
    """
    maintained = _among(code for code, declared in CODES[kind].items() if declared.maintenance)
    validating = f"live.preventing <@ ARRAY['{Code.NOT_VALIDATED}'] AND live.prevented AS validating"
    return f"""
        SELECT {_health(kind)} AS health, {maintained} AS maintenance, NOT live.prevented AS allocatable
               {f", {validating}" if "validating" in FOLLOWING[kind] else ""}
          FROM (SELECT coalesce(array_agg(r.code), '{{}}') AS codes,
                       coalesce(array_agg(r.code) FILTER (WHERE r.allocation = 'prevented'), '{{}}') AS preventing,
                       coalesce(bool_or(r.allocation = 'prevented'), false) AS prevented
                  FROM health_reports r
                 WHERE r.{kind}_id = object.id AND r.cleared_at IS NULL AND r.confirmed_at IS NOT NULL) AS live
        """  # noqa: S608  # our own names


class _Merged(NamedTuple):
    """How many objects changed, and the pods whose machines, or whose machines' own hosts, are among them."""

    objects: int
    pods: list[UUID]


def _merge(kind: Kind) -> Query[_Merged]:
    columns = FOLLOWING[kind]
    present, reported = (", ".join(f"{row}.{column}" for column in columns) for row in ("object", "merged"))
    return Query(
        f"""
        WITH changed AS (
        UPDATE {kind}s AS object
           SET {", ".join(f"{column} = merged.{column}" for column in columns)}
          FROM (SELECT object.id, reported.*
                  FROM unnest(CAST(:ids AS uuid[])) AS object (id)
                 CROSS JOIN LATERAL ({merged_reports(kind)}) AS reported) AS merged
         WHERE object.id = merged.id
           AND ({present}) IS DISTINCT FROM ({reported})
        RETURNING {_POD[kind]} AS pod_id)
        SELECT count(*) AS objects,
               coalesce(array_agg(DISTINCT pod_id) FILTER (WHERE pod_id IS NOT NULL), '{{}}') AS pods
          FROM changed
        """,  # noqa: S608  # our own names
        _Merged,
    )


_MERGE = {kind: _merge(kind) for kind in CODES}


async def lock(connection: AsyncConnection, kind: Kind, ids: Collection[UUID]) -> None:
    """Lock the objects' rows, in one order. A cluster that holds one of them must be locked before."""
    await connection.execute(_LOCK[kind], {"ids": sorted(ids)})


async def merge(connection: AsyncConnection, kind: Kind, ids: Collection[UUID]) -> int:
    """Write what the live reports of these objects say, and return how many of them changed.

    Their rows must be locked: the reports are read once.
    """
    merged = await _MERGE[kind].one(connection, {"ids": sorted(ids)})
    await settle_pods(connection, merged.pods)
    return merged.objects


async def merge_unsettled(connection: AsyncConnection, kind: Kind, ids: Collection[UUID]) -> list[UUID]:
    """The same, for a caller that settles the pods, which are returned, together with others."""
    merged = await _MERGE[kind].one(connection, {"ids": sorted(ids)})
    return merged.pods
