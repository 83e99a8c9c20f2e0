"""Calls for snapshots: copies of volumes, from which new ones are made, and of servers, for others as their image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, given, segment
from ipucloud.client.models import Page, Snapshot


def create(
    name: str,
    *,
    volume: Ref | None = None,
    cluster: Ref | None = None,
    poplar_server: Ref | None = None,
    tags: Mapping[str, str] | None = None,
) -> Call[Snapshot]:
    """Take a snapshot, which is billed by the GiB and minute from when it is `available`.

    Either of a `volume`, by name or id; or of the disk of a Poplar server of the `cluster` with this id:
    `poplar_server`, by name or id, or the first.
    """
    body = given(
        name=name,
        volume=_text(volume),
        cluster=_text(cluster),
        poplar_server=_text(poplar_server),
        tags=None if tags is None else dict(tags),
    )
    return request.post("snapshots", Snapshot, body)


def list(*, state: Sequence[str] = (), order: str | None = None, limit: int | None = None) -> Call[Page[Snapshot]]:
    """The project's snapshots, newest first. `state`: any of these; deleted ones are listed only if it says so."""
    query: Query = {"state": tuple(state), "order": order, "limit": limit}
    return request.get("snapshots", Page[Snapshot], query)


def get(snapshot: Ref) -> Call[Snapshot]:
    """One snapshot, by name or id."""
    return request.get(_path(snapshot), Snapshot)


def update(snapshot: Ref, *, name: str | None = None, tags: Mapping[str, str] | None = None) -> Call[Snapshot]:
    """Change its name or its tags."""
    body = given(name=name, tags=None if tags is None else dict(tags))
    return request.patch(_path(snapshot), Snapshot, body)


def delete(snapshot: Ref) -> Call[Snapshot]:
    """Delete it; volumes that were made from it stay. One that clusters are made from is refused."""
    return request.delete(_path(snapshot), Snapshot)


def _path(snapshot: Ref) -> str:
    return f"snapshots/{segment(snapshot)}"


def _text(ref: Ref | None) -> str | None:
    return None if ref is None else str(ref)
