"""Exports of a filled database: one file that is kept, and one that is delivered every day."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

_ROWS = (
    "INSERT INTO export_months (month) VALUES ('2026-05-01')",
    "INSERT INTO export_names (month, kind, id, name, tags)"
    " SELECT '2026-05-01', 'cluster', id, name, tags FROM clusters",
    "INSERT INTO s3_connections (id, project_id, name, endpoint, region, bucket, prefix, access_key_id, secret)"
    " VALUES (gen_random_uuid(), :project_id, 'lake', 'https://s3.example', 'eu', 'costs', '', 'key', 'v1.a.b')",
    "INSERT INTO cluster_s3_connections (project_id, cluster_id, connection_id, place)"
    " SELECT s.project_id, c.id, s.id, 1 FROM s3_connections s JOIN clusters c USING (project_id)",
    "INSERT INTO export_schedules (id, project_id, connection_id, dataset, focus_version, format, every, next_at)"
    " SELECT gen_random_uuid(), project_id, id, 'cost-and-usage', '1.4', 'csv', 'day', '2126-01-01Z'"
    " FROM s3_connections",
    "INSERT INTO exports (id, project_id, account_id, connection_id, schedule_id, scheduled_for, dataset,"
    " focus_version, format, month, fence, manifest, built_at, delivered_at, expires_at)"
    " SELECT gen_random_uuid(), project_id, project_id, connection_id, id, '2026-05-02', dataset, focus_version,"
    " format, '2026-05-01', 1, '{}', app_now(), app_now(), '2126-01-01Z' FROM export_schedules",
    "INSERT INTO exports (id, project_id, dataset, focus_version, format, since, until)"
    " VALUES (gen_random_uuid(), :project_id, 'cost-and-usage', '1.4', 'csv', '2026-05-04', '2026-05-11')",
    "INSERT INTO export_limits (project_id, per_day) VALUES (:project_id, 50)",
    "INSERT INTO export_chunks (export_id, fence, ordinal, data) SELECT id, 1, 0, 'x' FROM exports",
)


async def fill_exports(connection: AsyncConnection, *, project_id: UUID) -> None:
    """One row at least in each table of the exports."""
    for statement in _ROWS:
        await connection.execute(sa.text(statement), {"project_id": project_id})
