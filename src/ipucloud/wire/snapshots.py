"""Snapshots of the site's HTTP interface (`ipucloud.wire.site`)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from ipucloud.wire.base import Wire


class SnapshotState(StrEnum):
    """State of a snapshot at the site."""

    COPYING = "copying"
    READY = "ready"


class SnapshotSpec(Wire):
    """A copy of a volume as it is when the site accepts the request, of the size that the volume has then.

    It shows what was written to the volume by then; a program that writes at that time may have written half of a file.
    PUT of an existing snapshot with the same body shows it and copies nothing again; with another one it is refused
    with 409. A volume that does not exist, or lies in another region, is refused with 422. So is a name that was ever
    deleted, also if there was no such snapshot: a request that arrives late makes none.
    """

    region: str
    volume: str


class Snapshot(Wire):
    """A snapshot as observed; volumes are made from one that is `ready`.

    It needs its volume no longer then. A volume that is deleted before takes the copy with it: the snapshot is gone,
    and its name with it.
    """

    name: str
    spec: SnapshotSpec
    size_gib: int = Field(ge=1)
    state: SnapshotState
