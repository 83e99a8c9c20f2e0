"""Calls for volumes: storage that outlives clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, given, segment
from ipucloud.client.models import Page, Volume


def create(
    name: str,
    *,
    region: str,
    size_gib: int,
    snapshot: Ref | None = None,
    tags: Mapping[str, str] | None = None,
) -> Call[Volume]:
    """Create a volume, with the files of a snapshot, by name or id, if one is given.

    It is billed by the GiB and minute from when it is `available`.
    """
    body = given(
        name=name,
        region=region,
        size_gib=size_gib,
        snapshot=None if snapshot is None else str(snapshot),
        tags=None if tags is None else dict(tags),
    )
    return request.post("volumes", Volume, body)


def list(*, state: Sequence[str] = (), order: str | None = None, limit: int | None = None) -> Call[Page[Volume]]:
    """The project's volumes, newest first. `state`: any of these; deleted ones are listed only if it says so."""
    query: Query = {"state": tuple(state), "order": order, "limit": limit}
    return request.get("volumes", Page[Volume], query)


def get(volume: Ref) -> Call[Volume]:
    """One volume, by name or id."""
    return request.get(_path(volume), Volume)


def update(volume: Ref, *, name: str | None = None, tags: Mapping[str, str] | None = None) -> Call[Volume]:
    """Change its name or its tags."""
    body = given(name=name, tags=None if tags is None else dict(tags))
    return request.patch(_path(volume), Volume, body)


def attach(volume: Ref, cluster: Ref, *, poplar_server: str | None = None) -> Call[Volume]:
    """Let a Poplar server of a cluster, given by its id, have the volume at `/volumes/<name>`; by default the first."""
    body = given(cluster=str(cluster), poplar_server=poplar_server)
    return request.post(f"{_path(volume)}:attach", Volume, body)


def detach(volume: Ref) -> Call[Volume]:
    """Take it from its server; its files stay."""
    return request.post(f"{_path(volume)}:detach", Volume)


def resize(volume: Ref, size_gib: int) -> Call[Volume]:
    """Let it grow."""
    return request.post(f"{_path(volume)}:resize", Volume, {"size_gib": size_gib})


def delete(volume: Ref) -> Call[Volume]:
    """Delete it with its data; no server may have it."""
    return request.delete(_path(volume), Volume)


def _path(volume: Ref) -> str:
    return f"volumes/{segment(volume)}"
