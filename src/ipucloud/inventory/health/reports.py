"""Writing health reports, of operators and operations one by one; observation writes its own in batches.

Lock order: when a cluster holds the object, its row is locked before these functions are called.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.health.codes import CODES, Code, Kind, Source, declaration
from ipucloud.inventory.health.merge import lock, merge
from ipucloud.kernel.ids import new_id

_REGION_OF = {
    "machine": "(SELECT p.region FROM machines m JOIN pods p ON p.id = m.pod_id WHERE m.id = :object_id)",
    "host": "(SELECT region FROM hosts WHERE id = :object_id)",
}
_REPORT = {
    kind: Query(
        f"""
        INSERT INTO health_reports (id, region, {kind}_id, source, code, allocation, credited, detail, message,
                                    first_seen_at, confirmed_at, expires_at, maintenance_at, created_by, cluster_id)
        VALUES (:id, {_REGION_OF[kind]}, :object_id, :source, :code, :allocation, :credited, :detail, :message,
                coalesce(:first_seen_at, app_now()), app_now(), :expires_at, :maintenance_at, :created_by, :cluster_id)
        ON CONFLICT (machine_id, host_id, source, code) WHERE cleared_at IS NULL DO UPDATE
           SET detail = excluded.detail, confirmed_at = coalesce(health_reports.confirmed_at, app_now()),
               last_seen_at = app_now(), good_since = NULL, expires_at = excluded.expires_at,
               maintenance_at = coalesce(excluded.maintenance_at, health_reports.maintenance_at),
               created_by = coalesce(excluded.created_by, health_reports.created_by),
               cluster_id = coalesce(health_reports.cluster_id, excluded.cluster_id)
        RETURNING id
        """,  # noqa: S608  # our own names
        UUID,
    )
    for kind in CODES
}


class _Object(NamedTuple):
    kind: Kind
    object_id: UUID


_OBJECT = Query(
    """
    SELECT CASE WHEN host_id IS NULL THEN 'machine' ELSE 'host' END AS kind,
           coalesce(machine_id, host_id) AS object_id
      FROM health_reports WHERE id = :report_id
    """,
    _Object,
)
_CLEAR = Query(
    """
    WITH ended AS (
      UPDATE health_reports SET cleared_at = app_now(), good_since = coalesce(good_since, app_now())
       WHERE id = :report_id AND cleared_at IS NULL RETURNING id
    )
    SELECT count(*) FROM ended
    """,
    int,
)
_LIVE = {
    kind: Query(
        f"SELECT id FROM health_reports WHERE {kind}_id = :object_id AND source = :source AND code = :code"  # noqa: S608  # our own names
        " AND cleared_at IS NULL",
        UUID,
    )
    for kind in CODES
}


async def report(
    connection: AsyncConnection,
    *,
    kind: Kind,
    object_id: UUID,
    source: Source,
    code: Code,
    detail: str,
    created_by: str | None = None,
    expires_at: datetime | None = None,
    maintenance_at: datetime | None = None,
    cluster_id: UUID | None = None,
    first_seen_at: datetime | None = None,
) -> UUID:
    """Report that something is wrong, confirmed at once, and return the report's id.

    A live report of the same source and code gets the new detail and expiry instead. `cluster_id`: the cluster that
    holds the object. `maintenance_at`: of a drain, when its planned maintenance begins. `first_seen_at`: in the past;
    None: now. Raises ValueError when the source does not report such a code.
    """
    declared = declaration(kind, source, code)
    await lock(connection, kind, [object_id])
    report_id = await _REPORT[kind].one(
        connection,
        {
            "id": new_id(),
            "object_id": object_id,
            "source": source,
            "code": code,
            "allocation": declared.allocation,
            "credited": declared.credited,
            "detail": detail,
            "message": declared.message,
            "expires_at": expires_at,
            "maintenance_at": maintenance_at,
            "created_by": created_by,
            "cluster_id": cluster_id,
            "first_seen_at": first_seen_at,
        },
    )
    await merge(connection, kind, [object_id])
    return report_id


async def clear(connection: AsyncConnection, *, report_id: UUID) -> bool:
    """End a report; False when it does not exist or has ended."""
    target = await _OBJECT.one_or_none(connection, {"report_id": report_id})
    if target is None:
        return False
    await lock(connection, target.kind, [target.object_id])
    ended = await _CLEAR.one(connection, {"report_id": report_id}) > 0
    await merge(connection, target.kind, [target.object_id])
    return ended


async def clear_code(
    connection: AsyncConnection, *, kind: Kind, object_id: UUID, source: Source, code: Code
) -> UUID | None:
    """End the live report of this source and code, and return its id; None when there is none."""
    key = {"object_id": object_id, "source": source, "code": code}
    report_id = await _LIVE[kind].one_or_none(connection, key)
    ended = report_id is not None and await clear(connection, report_id=report_id)
    return report_id if ended else None
