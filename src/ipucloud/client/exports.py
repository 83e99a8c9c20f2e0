"""Calls for cost exports, their schedules and S3 connections."""

from __future__ import annotations

from datetime import date

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, nothing, segment
from ipucloud.client.models import Export, ExportSchedule, Operation, Page, S3Connection


def create(
    month: str | None = None,
    *,
    since: date | str | None = None,
    until: date | str | None = None,
    dataset: str | None = None,
    version: str | None = None,
    format: str | None = None,  # noqa: A002  # the API's name
    scope: str | None = None,
    connection: str | None = None,
) -> Call[Operation]:
    """Create an export of a month (`2026-05`), or of the UTC days in [since, until), such as `2026-05-04`.

    The operation's target is the export.
    """
    body = given(
        month=month,
        since=None if since is None else str(since),
        until=None if until is None else str(until),
        dataset=dataset,
        version=version,
        format=format,
        scope=scope,
        connection=connection,
    )
    return request.post("billing/exports", Operation, body)


def get(export: str) -> Call[Export]:
    return request.get(f"billing/exports/{segment(export)}", Export)


def page() -> Call[Page[Export]]:
    """The newest exports."""
    return request.get("billing/exports", Page[Export])


def download(export: str) -> Call[bytes]:
    """Download the file."""
    return request.get(f"billing/exports/{segment(export)}/file", bytes)


def connect(
    name: str,
    endpoint: str,
    bucket: str,
    *,
    access_key_id: str,
    secret: str,
    region: str | None = None,
    prefix: str | None = None,
) -> Call[S3Connection]:
    """Store a bucket as a destination; its secret is never shown again."""
    body = given(
        name=name,
        endpoint=endpoint,
        bucket=bucket,
        access_key_id=access_key_id,
        secret=secret,
        region=region,
        prefix=prefix,
    )
    return request.post("billing/s3-connections", S3Connection, body)


def connections() -> Call[Page[S3Connection]]:
    return request.get("billing/s3-connections", Page[S3Connection])


def disconnect(connection: str) -> Call[None]:
    return request.delete(f"billing/s3-connections/{segment(connection)}", nothing)


def schedule(
    connection: str,
    *,
    every: str = "day",
    dataset: str | None = None,
    version: str | None = None,
    format: str | None = None,  # noqa: A002  # the API's name
) -> Call[ExportSchedule]:
    """Deliver a file every `day` or `month`."""
    body = given(connection=connection, every=every, dataset=dataset, version=version, format=format)
    return request.post("billing/export-schedules", ExportSchedule, body)


def schedules() -> Call[Page[ExportSchedule]]:
    return request.get("billing/export-schedules", Page[ExportSchedule])


def unschedule(schedule: str) -> Call[None]:
    return request.delete(f"billing/export-schedules/{segment(schedule)}", nothing)
