"""Volumes, snapshots and public addresses of the site's HTTP interface (`ipucloud.wire.site`)."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from ipucloud.wire.base import Wire


class AddressSpec(Wire):
    """A public address of a region. The site chooses the IP address and the port, and keeps them until it is deleted.

    A name that was ever deleted is refused with 422, also if there was no such address: a request that arrives late
    reserves none. So is one for which the site has no IP address left.
    """

    region: str


class AddressServer(Wire):
    """The server of a tenant network that has an address."""

    host: str
    server: str
    network: str


class AddressAttachment(Wire):
    """Leads an address to the SSH of a server, or with `server` None to nobody.

    It takes effect unless the address has had a higher `revision`, or another attachment under this one, which is
    refused with 409. So is one to a host that does not run, carries another server, is in another network or in another
    region. Only connections from `allowed_sources` (CIDR) are led on, from everywhere if there are none, and of these
    those that the server takes (`ServerSources`); open ones stay open. An address stays attached while its server is
    switched off and on again, or rebuilt, and takes no connections meanwhile. A site detaches it by itself before it
    wipes the server.
    """

    revision: int = Field(ge=1)
    server: AddressServer | None = None
    allowed_sources: list[str] = Field(default=[])


class Address(Wire):
    """An address as observed. `attachment` None: it was never attached. One that is attached is not deleted: 409."""

    name: str
    spec: AddressSpec
    ip: str
    port: int = Field(ge=1, le=65535)
    attachment: AddressAttachment | None = None


class VolumeSpec(Wire):
    """A volume: storage of a region that outlives servers, of so many GiB.

    PUT of a larger size makes an existing volume grow, at once and without losing anything; of a smaller one it is
    refused with 409. A name that was ever deleted is refused with 422, also if there was no such volume: a request that
    arrives late makes none.

    `snapshot`: a `ready` one of this region, whose files the volume is made with; it says nothing about a volume that
    exists. One that does not exist or is not ready, or is larger than the volume, is refused with 422.
    """

    region: str
    size_gib: int = Field(ge=1)
    snapshot: str | None = None


class VolumeServer(Wire):
    """The server of a tenant network that has a volume, mounted at `path`."""

    host: str
    server: str
    network: str
    path: str = Field(pattern=r"^/volumes/[a-z]([a-z0-9-]{0,61}[a-z0-9])?$")


class VolumeAttachment(Wire):
    """Gives a volume to a server, or with `server` None to nobody; a server that had it before loses it first.

    It takes effect unless the volume has had a higher `revision`, or another attachment under this one, which is
    refused with 409. So is one to a host that does not run, carries another server, is in another network, or has
    another volume at this path. A volume stays attached while its server is switched off and on again. A site
    detaches it by itself before it wipes the server or writes it again; its files are never on the server's own disk.
    """

    revision: int = Field(ge=1)
    server: VolumeServer | None = None


class Volume(Wire):
    """A volume as observed. `attachment` None: it was never attached. A volume that is attached is not deleted: 409."""

    name: str
    spec: VolumeSpec
    attachment: VolumeAttachment | None = None


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
