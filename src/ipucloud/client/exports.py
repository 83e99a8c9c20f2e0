"""Calls for exports of cost data."""

from __future__ import annotations

from datetime import date

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, segment
from ipucloud.client.models import Export, ExportLimit, Operation, Page


def create(
    month: str | None = None,
    *,
    since: date | str | None = None,
    until: date | str | None = None,
    dataset: str | None = None,
    version: str | None = None,
    format: str | None = None,
    scope: str | None = None,
    connection: Ref | None = None,
    provisional: bool | None = None,
) -> Call[Operation]:
    """Create an export of a month (`2026-05`), or of the UTC days in [since, until), such as `2026-05-04`.

    The operation's target is the export. `provisional`: also with usage that is not posted yet.
    """
    body = given(
        month=month,
        since=None if since is None else str(since),
        until=None if until is None else str(until),
        dataset=dataset,
        version=version,
        format=format,
        scope=scope,
        connection=None if connection is None else str(connection),
        provisional=provisional,
    )
    return request.post("billing/exports", Operation, body)


def get(export: Ref) -> Call[Export]:
    return request.get(f"billing/exports/{segment(export)}", Export)


def list() -> Call[Page[Export]]:
    """The newest exports."""
    return request.get("billing/exports", Page[Export])


def limit() -> Call[ExportLimit]:
    """How many exports the project may request within 24 hours, and how many it has."""
    return request.get("billing/export-limit", ExportLimit)


def set_limit(per_day: int) -> Call[ExportLimit]:
    """Set how many exports the project may request within 24 hours. Needs a platform token."""
    return Call("PUT", "billing/export-limit", ExportLimit, body={"per_day": per_day})


def download(export: Ref) -> Call[bytes]:
    """Download the file."""
    return request.get(f"billing/exports/{segment(export)}/file", bytes)
