"""Calls for exports of cost data: of the project, or of a billing account, for its payers and platform tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, place, segment, without_none
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
    body = without_none(
        month=month,
        since=_text(since),
        until=_text(until),
        dataset=dataset,
        version=version,
        format=format,
        connection=_text(connection),
        provisional=provisional,
        scope=scope,
    )
    return request.post("billing/exports", Operation, body)


def create_for_account(
    account: Ref,
    month: str | None = None,
    *,
    since: date | str | None = None,
    until: date | str | None = None,
    dataset: str | None = None,
    version: str | None = None,
    format: str | None = None,
    connection: Ref | None = None,
    provisional: bool | None = None,
) -> Call[Export]:
    """The same of everything that a billing account pays for: read it until its `state` is `succeeded` or `failed`."""
    body = without_none(
        month=month,
        since=_text(since),
        until=_text(until),
        dataset=dataset,
        version=version,
        format=format,
        connection=_text(connection),
        provisional=provisional,
    )
    return request.post(_path("exports", account), Export, body, scoped=False)


def get(export: Ref, *, account: Ref | None = None) -> Call[Export]:
    return request.get(f"{_path('exports', account)}/{segment(export)}", Export, scoped=account is None)


def list(
    *,
    state: Sequence[str] = (),
    dataset: str | None = None,
    order: str | None = None,
    limit: int | None = None,
    account: Ref | None = None,
) -> Call[Page[Export]]:
    """The exports, newest first; `state`: any of these."""
    query: Query = {"state": tuple(state), "dataset": dataset, "order": order, "limit": limit}
    return request.get(_path("exports", account), Page[Export], query, scoped=account is None)


def limit(*, account: Ref | None = None) -> Call[ExportLimit]:
    """How many exports the project or the account may request within 24 hours, and how many it has."""
    return request.get(_path("export-limit", account), ExportLimit, scoped=account is None)


def set_limit(per_day: int, *, account: Ref | None = None) -> Call[ExportLimit]:
    """Set how many exports the project or the account may request within 24 hours. Needs a platform token."""
    body = {"per_day": per_day}
    return Call("PUT", _path("export-limit", account), ExportLimit, body=body, scoped=account is None)


def download(export: Ref, *, account: Ref | None = None, bom: bool = False) -> Call[bytes]:
    """Download the file; `bom`: CSV with a byte order mark, for spreadsheets."""
    path = f"{_path('exports', account)}/{segment(export)}/file"
    return request.get(path, bytes, {"bom": bom or None}, scoped=account is None)


def _path(noun: str, account: Ref | None) -> str:
    return f"billing/{noun}" if account is None else place(noun, account)


def _text(value: object) -> str | None:
    return None if value is None else str(value)
