"""Exports, connections and schedules as rows, for tests that need something to point at."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.kernel.ids import new_id

_CONNECTION = sa.text(
    """
    INSERT INTO s3_connections (id, project_id, account_id, name, endpoint, region, bucket, prefix, access_key_id,
                                secret)
    VALUES (:id, :project_id, :account_id, :name, 'https://s3.example', 'eu', 'costs', '', 'key', 'v1.a.b')
    """
)
_LIVE = sa.text(
    """
    SELECT id FROM s3_connections
     WHERE (project_id = :project_id OR account_id = :account_id) AND name = :name AND deleted_at IS NULL
    """
)
_SCHEDULE = sa.text(
    """
    INSERT INTO export_schedules (id, project_id, account_id, connection_id, dataset, focus_version, format, every,
                                  next_at)
    VALUES (:id, :project_id, :account_id, :connection_id, 'cost-and-usage', '1.4', 'csv', 'day', '2126-01-01Z')
    """
)
_LIVE_SCHEDULE = sa.text(
    """
    SELECT id FROM export_schedules
     WHERE (project_id = :project_id OR account_id = :account_id) AND deleted_at IS NULL
    """
)
_MANIFEST = '{"rows": 0, "final": false, "files": [{"name": "f.csv", "format": "csv", "bytes": 1, "sha256": "00"}]}'
_ROWS = (
    """
    INSERT INTO exports (id, project_id, owner_account_id, account_id, dataset, focus_version, format, month, fence,
                         manifest, built_at, expires_at, created_at)
    VALUES (:id, :project_id, :account_id, :account_id, 'cost-and-usage', '1.4', 'csv', '2026-04-01', 1,
            CAST(:manifest AS jsonb), app_now(), '2126-01-01Z', app_now() - interval '2 days')
    """,
    "INSERT INTO export_chunks (export_id, fence, ordinal, data) VALUES (:id, 1, 0, 'x')",
    """
    INSERT INTO operations (id, project_id, account_id, export_id, kind, state, progress, request_id, started_at,
                            finished_at, deadline_at)
    VALUES (:operation_id, :project_id, :account_id, :id, 'export.create', 'succeeded', 100, 'req-made', app_now(),
            app_now(), '2126-01-01Z')
    """,
    """
    INSERT INTO operation_steps (operation_id, ordinal, project_id, account_id, name, stage, state, started_at,
                                 finished_at)
    VALUES (:operation_id, 1, :project_id, :account_id, 'build_file', 'BUILD', 'succeeded', app_now(), app_now())
    """,
    """
    INSERT INTO events (project_id, account_id, type, subject_type, subject_id, operation_id)
    SELECT CAST(:project_id AS uuid), CAST(:account_id AS uuid), type, 'export', :id, :operation_id
      FROM unnest(ARRAY['operation.created', 'operation.succeeded']) AS type
    """,
)


async def make_export(connection: AsyncConnection, home: UUID, *, of_account: bool = False) -> UUID:
    """An export whose file, of one byte, can be downloaded; asked for two days ago."""
    export_id = new_id()
    values = _home(home, of_account=of_account) | {"id": export_id, "operation_id": export_id, "manifest": _MANIFEST}
    for statement in _ROWS:
        await connection.execute(sa.text(statement), values)
    return export_id


async def some_connection(connection: AsyncConnection, home: UUID, name: str, *, of_account: bool = False) -> UUID:
    """The S3 connection of that name of a project or an account, made if there is none."""
    values = _home(home, of_account=of_account) | {"name": name}
    connection_id: UUID | None = (await connection.execute(_LIVE, values)).scalar_one_or_none()
    if connection_id is None:
        connection_id = new_id()
        await connection.execute(_CONNECTION, values | {"id": connection_id})
    return connection_id


async def some_schedule(connection: AsyncConnection, home: UUID, *, of_account: bool = False) -> UUID:
    """One of the export schedules of a project or an account, made if there is none."""
    values = _home(home, of_account=of_account)
    schedule_id: UUID | None = (await connection.execute(_LIVE_SCHEDULE, values)).scalars().first()
    if schedule_id is None:
        schedule_id = new_id()
        bucket = await some_connection(connection, home, "scheduled", of_account=of_account)
        await connection.execute(_SCHEDULE, values | {"id": schedule_id, "connection_id": bucket})
    return schedule_id


def _home(home: UUID, *, of_account: bool) -> dict[str, object]:
    return {"project_id": None if of_account else home, "account_id": home if of_account else None}
