"""What the control plane needs of a site's storage; part of `ipucloud.site.ports`."""

from __future__ import annotations

from typing import Protocol

from ipucloud.wire.snapshots import Snapshot, SnapshotSpec
from ipucloud.wire.volumes import Volume, VolumeAttachment, VolumeSpec


class Volumes(Protocol):
    """Storage that outlives servers."""

    async def get(self, name: str) -> Volume | None: ...
    async def put(self, name: str, spec: VolumeSpec) -> Volume:
        """Make the volume, or let it grow.

        Raises SiteRefused for a name that was deleted, and for a snapshot that is not ready or is larger; SiteBusy if
        it would shrink.
        """

    async def attach(self, name: str, attachment: VolumeAttachment) -> Volume | None:
        """Attach or detach it; None where there is no such volume.

        Raises SiteBusy once it has had a later revision, and while its server does not run or is in another network.
        """

    async def delete(self, name: str) -> None:
        """With its files. Raises SiteBusy while it is attached."""


class Snapshots(Protocol):
    """Copies of volumes that outlive them."""

    async def get(self, name: str) -> Snapshot | None: ...
    async def put(self, name: str, spec: SnapshotSpec) -> Snapshot:
        """Begin to copy the volume as it is now; it is copied once it is `ready`.

        Raises SiteRefused for a name that was deleted, and for a volume that does not exist there; SiteBusy for a
        name that is another volume's snapshot.
        """

    async def delete(self, name: str) -> None:
        """With its files. Volumes that were made from it keep theirs."""
