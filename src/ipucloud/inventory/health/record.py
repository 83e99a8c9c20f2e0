"""Writing what a reading changed in the reports, in batches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.health.codes import CODES, Kind
from ipucloud.inventory.health.judge import Action, Change, Fact, LiveReport
from ipucloud.inventory.health.merge import lock, merge
from ipucloud.kernel.ids import new_id

_LIVE = Query(
    """
    SELECT id, CASE WHEN host_id IS NULL THEN 'machine' ELSE 'host' END AS kind,
           coalesce(machine_id, host_id) AS object_id, source, code, detail, first_seen_at, last_seen_at, confirmed_at,
           good_readings, expires_at,
           CASE WHEN confirmed_at IS NULL THEN 0
                ELSE (SELECT count(*) FROM health_reports earlier
                       WHERE earlier.machine_id IS NOT DISTINCT FROM live.machine_id
                         AND earlier.host_id IS NOT DISTINCT FROM live.host_id
                         AND (earlier.source, earlier.code) = (live.source, live.code)
                         AND earlier.confirmed_at > live.confirmed_at - interval '1 hour') END AS confirmations
      FROM health_reports live
     WHERE region = :region AND cleared_at IS NULL
    """,
    LiveReport,
)
_OPEN = sa.text(
    """
    INSERT INTO health_reports (id, region, machine_id, host_id, source, code, allocation, credited, detail, message)
    SELECT id, :region, CASE WHEN kind = 'machine' THEN object_id END, CASE WHEN kind = 'host' THEN object_id END,
           source, code, allocation, credited, detail, message
      FROM unnest(CAST(:ids AS uuid[]), CAST(:kinds AS text[]), CAST(:objects AS uuid[]), CAST(:sources AS text[]),
                  CAST(:codes AS text[]), CAST(:allocations AS text[]), CAST(:credited AS boolean[]),
                  CAST(:details AS text[]), CAST(:messages AS text[]))
           AS opened (id, kind, object_id, source, code, allocation, credited, detail, message)
    ON CONFLICT DO NOTHING
    """
)
_CHANGE = sa.text(
    """
    UPDATE health_reports
       SET detail = change.detail,
           last_seen_at = CASE WHEN action IN ('seen', 'confirmed') THEN app_now() ELSE last_seen_at END,
           confirmed_at = CASE WHEN action = 'confirmed' THEN coalesce(confirmed_at, app_now()) ELSE confirmed_at END,
           cluster_id = CASE WHEN action = 'confirmed' THEN :cluster_id ELSE cluster_id END,
           good_readings = CASE WHEN action IN ('good', 'cleared') THEN good_readings + 1 ELSE 0 END,
           good_since = CASE WHEN action IN ('good', 'cleared') THEN coalesce(good_since, app_now()) END,
           cleared_at = CASE WHEN action = 'cleared' THEN app_now() END
      FROM unnest(CAST(:ids AS uuid[]), CAST(:actions AS text[]), CAST(:details AS text[]))
           AS change (id, action, detail)
     WHERE health_reports.id = change.id AND cleared_at IS NULL
    """
)


async def live_reports(connection: Statements, region: str) -> list[LiveReport]:
    """The reports of a region's machines and hosts that are not cleared, suspected ones too."""
    return await _LIVE.all(connection, {"region": region})


async def write(connection: AsyncConnection, region: str, changes: Collection[Change], cluster_id: UUID | None) -> None:
    """Write the changes, and what then follows for their objects, all held by this cluster, or by none.

    A cluster must be locked before.
    """
    for kind in CODES:  # machines and their pods before hosts, in the order of locks
        of_kind = [each for each in changes if each.fact.kind == kind]
        if of_kind:
            await _write(connection, region, kind, of_kind, cluster_id)


async def _write(
    connection: AsyncConnection, region: str, kind: Kind, changes: Collection[Change], cluster_id: UUID | None
) -> None:
    objects = {each.fact.object_id for each in changes}
    await lock(connection, kind, objects)
    opened = [each.fact for each in changes if each.action is Action.SUSPECTED]
    if opened:
        await connection.execute(_OPEN, {"region": region} | _columns(opened))
    changed = [each for each in changes if each.action is not Action.SUSPECTED]
    if changed:
        await connection.execute(
            _CHANGE,
            {
                "cluster_id": cluster_id,
                "ids": [each.report_id for each in changed],
                "actions": [each.action for each in changed],
                "details": [each.fact.detail for each in changed],
            },
        )
    if any(each.action in {Action.CONFIRMED, Action.CLEARED} for each in changes):
        await merge(connection, kind, objects)


def _columns(opened: Sequence[Fact]) -> dict[str, list[Any]]:
    declared = [CODES[fact.kind][fact.code] for fact in opened]
    return {
        "ids": [new_id() for _ in opened],
        "kinds": [fact.kind for fact in opened],
        "objects": [fact.object_id for fact in opened],
        "sources": [fact.source for fact in opened],
        "codes": [fact.code for fact in opened],
        "allocations": [each.allocation for each in declared],
        "credited": [each.credited for each in declared],
        "details": [fact.detail for fact in opened],
        "messages": [each.message for each in declared],
    }
