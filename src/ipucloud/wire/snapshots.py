"""Snapshots of the site's HTTP interface (`ipucloud.wire.site`)."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from ipucloud.wire.base import Wire


class SnapshotState(StrEnum):
    """State of a snapshot at the site."""

    COPYING = "copying"
    READY = "ready"


class SnapshotServer(Wire):
    """The server of a tenant network whose disk is copied."""

    host: str
    server: str
    network: str


class SnapshotSpec(Wire):
    """A copy of a volume, or of the disk of a server, as it is when the site accepts the request.

    It shows what was written by then; a program that writes at that time may have written half of a file. PUT of an
    existing snapshot with the same body shows it and copies nothing again; with another one it is refused with 409. A
    volume that does not exist, or lies in another region, is refused with 422; so is a host that carries another server
    or is in another network, and a name that was ever deleted, also if there was no such snapshot: a request that
    arrives late makes none.

    The copy of a disk has everything that the customer has put on it, but not its volumes, what is mounted from S3,
    /tmp, and what the site itself keeps on it for this server: host keys, authorized keys, the access keys of S3
    connections and of V-IPU, and what cloud-init has recorded.
    """

    region: str
    volume: str | None = None
    server: SnapshotServer | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.volume is None) == (self.server is None):
            raise ValueError("a snapshot is of a volume or of a server")
        return self


class Snapshot(Wire):
    """A snapshot as observed. From one that is `ready` volumes are made, or servers, which name it as their `image`.

    It needs its volume or server no longer then. A volume or server that is deleted, or a server that is rebuilt,
    before that takes the copy with it: the snapshot is gone, and its name with it. `size_gib`: that of the volume, or
    what is on the disk, rounded up, once it is known.
    """

    name: str
    spec: SnapshotSpec
    size_gib: int | None = Field(None, ge=1)
    state: SnapshotState
