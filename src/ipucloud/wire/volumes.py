"""Volumes of the site's HTTP interface (`ipucloud.wire.site`)."""

from __future__ import annotations

from pydantic import Field

from ipucloud.wire.base import Wire


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
