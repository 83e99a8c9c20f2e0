"""Calls for regular exports, of the project or of a billing account."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, nothing, place, segment
from ipucloud.client.models import ExportSchedule, Page


def list(
    *, every: str | None = None, dataset: str | None = None, order: str | None = None, account: Ref | None = None
) -> Call[Page[ExportSchedule]]:
    """All schedules, oldest first; `every`: only those that deliver each `hour`, `day` or `month`."""
    query = {"every": every, "dataset": dataset, "order": order}
    return request.get(_path(account), Page[ExportSchedule], query, scoped=account is None)


def create(
    connection: Ref,
    *,
    every: str = "day",
    dataset: str | None = None,
    version: str | None = None,
    format: str | None = None,
    provisional: bool | None = None,
    account: Ref | None = None,
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
    return request.post(_path(account), ExportSchedule, body, scoped=account is None)


def delete(schedule: Ref, *, account: Ref | None = None) -> Call[None]:
    """Delete a schedule, by name or id."""
    return request.delete(f"{_path(account)}/{segment(schedule)}", nothing, scoped=account is None)


def _path(account: Ref | None) -> str:
    return "billing/export-schedules" if account is None else place("export-schedules", account)
