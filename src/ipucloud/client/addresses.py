"""Calls for addresses: public ones that outlive clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, given, segment
from ipucloud.client.models import Address, Page


def create(name: str, *, region: str, tags: Mapping[str, str] | None = None) -> Call[Address]:
    """Reserve an address, which is billed by the minute from when it is `available`."""
    body = given(name=name, region=region, tags=None if tags is None else dict(tags))
    return request.post("addresses", Address, body)


def list(*, state: Sequence[str] = (), order: str | None = None, limit: int | None = None) -> Call[Page[Address]]:
    """The project's addresses, newest first. `state`: any of these; deleted ones are listed only if it says so."""
    query: Query = {"state": tuple(state), "order": order, "limit": limit}
    return request.get("addresses", Page[Address], query)


def get(address: Ref) -> Call[Address]:
    """One address, by name or id."""
    return request.get(_path(address), Address)


def update(address: Ref, *, name: str | None = None, tags: Mapping[str, str] | None = None) -> Call[Address]:
    """Change its name or its tags."""
    body = given(name=name, tags=None if tags is None else dict(tags))
    return request.patch(_path(address), Address, body)


def attach(address: Ref, cluster: Ref, *, poplar_server: str | None = None) -> Call[Address]:
    """Let a Poplar server of a cluster, given by its id, be reached through the address; by default the first."""
    body = given(cluster=str(cluster), poplar_server=poplar_server)
    return request.post(f"{_path(address)}:attach", Address, body)


def detach(address: Ref) -> Call[Address]:
    """Take it from its server; it stays the project's."""
    return request.post(f"{_path(address)}:detach", Address)


def delete(address: Ref) -> Call[Address]:
    """Give it back; no server may have it."""
    return request.delete(_path(address), Address)


def _path(address: Ref) -> str:
    return f"addresses/{segment(address)}"
