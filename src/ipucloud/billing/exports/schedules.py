"""Exports that are delivered to S3 connections every hour, day or month."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.exports.connections import connection_document
from ipucloud.billing.exports.requests import RequestedExport, request_export
from ipucloud.billing.exports.selection import day_of, month_of
from ipucloud.billing.exports.tables import SCHEDULE_NAME
from ipucloud.contract.exports import Dataset, ExportScheduleCreate, ExportScheduleList, FileFormat, FocusVersion
from ipucloud.contract.lists import Order
from ipucloud.db.documents import clauses, filters_of, rfc3339
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.members import Home
from ipucloud.kernel.actor import AccountActor, Actor
from ipucloud.kernel.errors import QUOTA_EXCEEDED, Problem, not_found
from ipucloud.kernel.ids import new_id

log = structlog.get_logger(__name__)

MAX_SCHEDULES = 20
AT_ONCE = 100
"""Schedules processed per turn; the next turn continues."""

_HELD = Query(
    """
    SELECT count(*) FROM export_schedules
     WHERE (project_id = :project_id OR account_id = :account_id) AND deleted_at IS NULL
    """,
    int,
)
_SCHEDULE = f"""
SELECT json_build_object(
         'id', s.id, 'name', {SCHEDULE_NAME}, 'connection', s.connection_id, 'dataset', s.dataset,
         'version', s.focus_version,
         'format', s.format, 'provisional', s.provisional, 'every', s.every, 'next_at', {rfc3339("s.next_at")},
         'created_at', {rfc3339("s.created_at")}, 'last_export', x.id, 'last_error', x.last_error,
         'last_delivered_at', {rfc3339("x.delivered_at")})::text AS document
  FROM export_schedules s JOIN s3_connections c ON c.id = s.connection_id
  LEFT JOIN LATERAL (SELECT e.id, e.last_error, e.delivered_at FROM exports e
                      WHERE (e.project_id = s.project_id OR e.owner_account_id = s.account_id) AND e.schedule_id = s.id
                      ORDER BY e.scheduled_for DESC LIMIT 1) AS x ON true
 WHERE (s.project_id = :project_id OR s.account_id = :account_id) AND s.deleted_at IS NULL
"""  # noqa: S608  # our own text
_OF_KIND = """
  AND (CAST(:every AS text) IS NULL OR s.every = CAST(:every AS text))
  AND (CAST(:dataset AS text) IS NULL OR s.dataset = CAST(:dataset AS text))
"""
_SCHEDULES = {
    Order.OLDEST_FIRST: Query(clauses(_SCHEDULE, _OF_KIND, "ORDER BY s.created_at, s.id"), str),
    Order.NEWEST_FIRST: Query(clauses(_SCHEDULE, _OF_KIND, "ORDER BY s.created_at DESC, s.id DESC"), str),
}
_ONE_SCHEDULE = Query(_SCHEDULE + " AND s.id = :id", str)
# A month is exported on its third day after: it is sealed, and its invoices are issued, on the second.
_FIRST = """
CASE every WHEN 'hour' THEN date_trunc('hour', app_now(), 'UTC') + interval '1 hour 5 minutes'
           WHEN 'day' THEN date_trunc('day', app_now(), 'UTC') + interval '1 day 1 hour'
     ELSE (date_trunc('month', app_now() AT TIME ZONE 'UTC') + interval '1 month 2 days') AT TIME ZONE 'UTC' END
"""
# The month or day that an export is about follows from when it was due, however late it is served: none is left out.
_ABOUT = """
CROSS JOIN LATERAL (
  SELECT (s.next_at AT TIME ZONE 'UTC') - CASE s.every WHEN 'month' THEN interval '1 month'
                                                       WHEN 'hour' THEN interval '1 hour'
                                                       ELSE interval '1 day' END AS at
) AS before
CROSS JOIN LATERAL (
  SELECT date_trunc('month', before.at)::date AS month, before.at::date AS day, date_trunc('hour', before.at) AS hour
) AS about
"""
# Missed hours and days are skipped, but every day, or month, gets a file of its final state.
_NEXT = """
CASE s.every WHEN 'hour' THEN least(date_trunc('hour', app_now(), 'UTC') + interval '1 hour 5 minutes',
                                    (about.day + interval '2 days 5 minutes') AT TIME ZONE 'UTC')
             WHEN 'day' THEN least(date_trunc('day', app_now(), 'UTC') + interval '1 day 1 hour',
                                   (about.month + interval '2 months 1 hour') AT TIME ZONE 'UTC')
     ELSE (about.month + interval '2 months 2 days') AT TIME ZONE 'UTC' END
"""
# Months are opened in their order: one that is not there, while a later one is, has no usage.
_SEALED = """
EXISTS (SELECT FROM billing_months b WHERE b.month > about.month)
AND NOT EXISTS (SELECT FROM billing_months b LEFT JOIN export_months e USING (month)
                 WHERE b.month = about.month AND (b.sealed_at IS NULL OR e.month IS NULL))
"""
# The account, or those that pay for the project, have their invoices, even if others wait for a tax rate.
_BILLED = """
(EXISTS (SELECT FROM invoiced_months i WHERE i.month = about.month)
 OR NOT EXISTS (SELECT FROM ledger_accounts a
                 WHERE (a.owner_id = s.account_id
                        OR a.owner_id IN (SELECT p.account_id FROM project_accounts p
                                           WHERE p.project_id = s.project_id))
                   AND a.code = 'unbilled'
                   AND NOT EXISTS (SELECT FROM invoices i WHERE (i.account_id, i.currency, i.month)
                                                              = (a.owner_id, a.currency, about.month))
                   AND EXISTS (SELECT FROM usage_charges c WHERE (c.account_id, c.currency, c.billing_month)
                                                               = (a.owner_id, a.currency, about.month))))
"""
# A month that is over is worth its last file only when all its hours are closed; they are in their order.
_CLOSED = """
(about.month = date_trunc('month', app_now() AT TIME ZONE 'UTC')
 OR EXISTS (SELECT FROM hour_closes c
             WHERE c.hour >= (about.month + interval '1 month' - interval '1 hour') AT TIME ZONE 'UTC'
               AND c.closed_at IS NOT NULL)
 OR NOT EXISTS (SELECT FROM usage_intervals u
                 WHERE u.started_at < (about.month + interval '1 month') AT TIME ZONE 'UTC'))
"""
# Hours are closed in their order.
_HOUR_CLOSED = """
(EXISTS (SELECT FROM hour_closes c WHERE c.hour >= about.hour AT TIME ZONE 'UTC' AND c.closed_at IS NOT NULL)
 OR NOT EXISTS (SELECT FROM usage_intervals u
                 WHERE u.started_at < (about.hour + interval '1 hour') AT TIME ZONE 'UTC'))
"""
_READY = clauses(
    "CASE s.every WHEN 'hour' THEN", _HOUR_CLOSED, "WHEN 'day' THEN", _CLOSED, "ELSE", _SEALED, "AND", _BILLED, "END"
)
_ADD_SCHEDULE = sa.text(
    clauses(
        """
        INSERT INTO export_schedules (id, project_id, account_id, connection_id, dataset, focus_version, format,
                                      provisional, every, next_at)
        SELECT :id, :project_id, :account_id, :connection_id, :dataset, :version, :format, :provisional, every,
        """,
        _FIRST,
        "FROM (SELECT CAST(:every AS text) AS every) AS params",
    )
)
_END_SCHEDULE = sa.text(
    """
    UPDATE export_schedules SET deleted_at = app_now()
     WHERE (project_id = :project_id OR account_id = :account_id) AND id = :id AND deleted_at IS NULL
    """
)
_DUE = Query(
    clauses(
        "SELECT s.id FROM export_schedules s",
        _ABOUT,
        "WHERE s.next_at <= app_now() AND s.deleted_at IS NULL AND",
        _READY,
        "ORDER BY s.next_at LIMIT :limit",
    ),
    UUID,
)


class _DueSchedule(NamedTuple):
    """A schedule that is due: `planned` is when it was, `following` when it is due next."""

    project_id: UUID | None
    account_id: UUID | None
    dataset: Dataset
    focus_version: FocusVersion
    format: FileFormat
    connection_id: UUID
    provisional: bool
    every: str
    planned: datetime
    month: date
    day: date
    following: datetime


_TAKE = Query(
    clauses(
        "SELECT s.project_id, s.account_id, s.dataset, s.focus_version, s.format, s.connection_id, s.provisional,",
        "s.every, s.next_at AS planned, about.month, about.day,",
        _NEXT,
        "AS following FROM export_schedules s",
        _ABOUT,
        "WHERE s.id = :id AND s.next_at <= app_now() AND s.deleted_at IS NULL AND",
        _READY,
        "FOR UPDATE OF s",
    ),
    _DueSchedule,
)
_MOVE_ON = sa.text("UPDATE export_schedules SET next_at = :following WHERE id = :id")


async def add_schedule(connection: AsyncConnection, home: Home, plan: ExportScheduleCreate) -> bytes:
    """Create a schedule from the next day or month on; returns its JSON. The caller holds its home's lock."""
    await connection_document(connection, home, plan.connection)
    if await _HELD.one(connection, home.parameters) >= MAX_SCHEDULES:
        raise Problem(QUOTA_EXCEEDED, f"A {home.noun} can have at most {MAX_SCHEDULES} schedules.")
    schedule_id = new_id()
    values = home.parameters | plan.model_dump(mode="json") | {"id": schedule_id, "connection_id": plan.connection}
    await connection.execute(_ADD_SCHEDULE, values)
    return _one(await _ONE_SCHEDULE.one_or_none(connection, home.parameters | {"id": schedule_id}))


async def schedule_documents(connection: Statements, home: Home, query: ExportScheduleList) -> Sequence[str]:
    return await _SCHEDULES[query.order].all(connection, home.parameters | filters_of(query))


async def end_schedule(connection: AsyncConnection, home: Home, schedule_id: UUID) -> None:
    """Raises `Problem` not_found."""
    if (await connection.execute(_END_SCHEDULE, home.parameters | {"id": schedule_id})).rowcount != 1:
        raise not_found()


async def serve_schedules(database: Database) -> None:
    """Create due exports, one per schedule, each in one transaction with the schedule's next time."""
    async with database.read() as connection:
        due = await _DUE.all(connection, {"limit": AT_ONCE})
    for schedule_id in due:
        async with database.begin() as connection:
            await _serve(connection, schedule_id)


async def _serve(connection: AsyncConnection, schedule_id: UUID) -> None:
    row = await _TAKE.one_or_none(connection, {"id": schedule_id})
    if row is None:
        return
    spec = RequestedExport(
        row.dataset,
        row.focus_version,
        row.format,
        day_of(row.day) if row.every == "hour" else month_of(row.month),
        connection_id=row.connection_id,
        schedule_id=schedule_id,
        scheduled_for=row.planned,
        provisional=row.provisional,
    )
    export_id, _ = await request_export(connection, _actor(row, f"schedule-{schedule_id}"), spec)
    await connection.execute(_MOVE_ON, {"id": schedule_id, "following": row.following})
    log.info("export_scheduled", schedule=str(schedule_id), export=str(export_id))


def _actor(row: _DueSchedule, request_id: str) -> Actor | AccountActor:
    if row.project_id is not None:
        return Actor(row.project_id, None, request_id)
    return AccountActor(Home(None, row.account_id).id, None, request_id)


def _one(document: str | None) -> bytes:
    if document is None:
        raise not_found()
    return document.encode()
