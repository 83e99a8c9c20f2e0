"""Calls for regular exports."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, nothing, segment
from ipucloud.client.models import ExportSchedule, Page


def list() -> Call[Page[ExportSchedule]]:
    return request.get("billing/export-schedules", Page[ExportSchedule])


def create(
    connection: Ref,
    *,
    every: str = "day",
    dataset: str | None = None,
    version: str | None = None,
    format: str | None = None,
    provisional: bool | None = None,
) -> Call[ExportSchedule]:
    """Deliver a file to a connection, by id, every `hour`, `day` or `month`."""
    body = given(
        connection=str(connection),
        every=every,
        dataset=dataset,
        version=version,
        format=format,
        provisional=provisional,
    )
    return request.post("billing/export-schedules", ExportSchedule, body)


def delete(schedule: Ref) -> Call[None]:
    """Delete a schedule, by name or id."""
    return request.delete(f"billing/export-schedules/{segment(schedule)}", nothing)
