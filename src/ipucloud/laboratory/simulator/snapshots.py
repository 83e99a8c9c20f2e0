"""Snapshots: copies of volumes and of servers' disks, in folders of their own. Each is recorded before it is copied.

It is filled beside its place and moved there once it is complete. One that was not when the site was killed is copied
anew when it starts.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.copying import NEW, Copier, Folder, Stopped, TooLarge
from ipucloud.laboratory.simulator.durations import Action, Durations
from ipucloud.laboratory.simulator.refusal import Refusal, invalid, not_found, precondition
from ipucloud.laboratory.simulator.ssh.disk_copy import NOT_COPIED, clean_copy
from ipucloud.laboratory.simulator.state import SnapshotRecord
from ipucloud.laboratory.simulator.store import Document
from ipucloud.laboratory.simulator.volumes import NAME
from ipucloud.laboratory.simulator.wiping import wipe
from ipucloud.wire.site import ServerSpec
from ipucloud.wire.storage import Snapshot, SnapshotServer, SnapshotSpec, SnapshotState, Volume, VolumeSpec

WAIT_SECONDS = 1.0
"""How long a request waits for its copy: whatever is written to a small volume after the answer is not in it."""
GIB = 1 << 30
logger = logging.getLogger(__name__)


class VolumesToCopy(Protocol):
    """The site's volumes. What cannot be copied is refused."""

    def get(self, name: str) -> Volume: ...
    def open(self, name: str) -> Folder | None: ...


class ServersToCopy(Protocol):
    """The servers on the site's hosts. What cannot be copied is refused."""

    async def server_to_copy(self, source: SnapshotServer, region: str) -> ServerSpec: ...
    def open_disk(self, source: SnapshotServer) -> Folder | None: ...
    def deploys_from(self, snapshot: str) -> bool: ...


@dataclass(frozen=True)
class Sources:
    """What snapshots are made of."""

    volumes: VolumesToCopy
    servers: ServersToCopy

    async def record(self, spec: SnapshotSpec) -> SnapshotRecord:
        """A record of a snapshot that can be made now; refuses others. Nothing happens between that and its return."""
        try:
            if spec.server is not None:
                server = await self.servers.server_to_copy(spec.server, spec.region)
                return SnapshotRecord(spec, user=server.user)
            volume = self.volumes.get(spec.volume or "")
        except Refusal as refusal:
            raise invalid(refusal.sentence) from refusal
        if volume.spec.region != spec.region:
            raise invalid(f"volume {spec.volume!r} lies in {volume.spec.region!r}, not in {spec.region!r}")
        return SnapshotRecord(spec, volume.spec.size_gib)

    def open(self, spec: SnapshotSpec) -> Folder | None:
        if spec.server is not None:
            return self.servers.open_disk(spec.server)
        return self.volumes.open(spec.volume or "")


class Snapshots:
    """Every snapshot of the site, by name."""

    def __init__(
        self,
        records: dict[str, SnapshotRecord],
        *,
        folder: Path,
        clock: Clock,
        durations: Durations,
        document: Document,
        copier: Copier,
        sources: Sources,
    ) -> None:
        self._records = records
        self._folder = folder
        self._clock = clock
        self._durations = durations
        self._document = document
        self._copier = copier
        self._sources = sources
        self._copies: dict[str, asyncio.Task[None]] = {}
        self._wipes: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Remove what is left of wipes and of copies that were not complete, and make these anew."""
        await asyncio.to_thread(self._clear)
        for name, record in self._records.items():
            if not record.deleted and not record.copied:
                self._begin(name, record)

    async def close(self) -> None:
        """Stop every copy."""
        self._copier.close()
        await asyncio.gather(*self._copies.values(), *self._wipes, return_exceptions=True)

    def get(self, name: str) -> Snapshot:
        record = self._records.get(name)
        if record is None or record.deleted:
            raise not_found(f"snapshot {name!r} does not exist")
        is_known = record.copied or record.spec.server is None
        size = record.size_gib if is_known else None
        return Snapshot(name=name, spec=record.spec, size_gib=size, state=self._state(record))

    async def put(self, name: str, spec: SnapshotSpec) -> Snapshot:
        """Begin to copy a volume or the disk of a server, or again if its copy has failed."""
        if not NAME.fullmatch(name):
            raise invalid(f"{name!r} is not the name of a snapshot")
        if name not in self._records:
            new = await self._sources.record(spec)
            new.due = self._clock.now() + self._durations.seconds(Action.SNAPSHOT_COPY, name)
            self._records.setdefault(name, new)
            self._document.touch()
        record = self._records[name]
        if record.deleted:
            raise invalid(f"snapshot {name!r} was deleted; no other gets its name")
        if record.spec != spec:
            raise precondition(f"snapshot {name!r} is of {_said(record.spec)} in {record.spec.region!r}")
        if not record.copied and name not in self._copies:
            self._begin(name, record)
        if name in self._copies:
            await asyncio.wait({self._copies[name]}, timeout=WAIT_SECONDS)
        return self.get(name)

    async def delete(self, name: str) -> None:
        """Remove a snapshot with its files. The name is kept, also of one that never was."""
        record = self._records.get(name)
        if record is None:
            self._records[name] = SnapshotRecord(SnapshotSpec(region="", volume=""), deleted=True)
            self._document.touch()
        if record is None or record.deleted:
            raise not_found(f"snapshot {name!r} does not exist")
        if self._sources.servers.deploys_from(name):
            raise precondition(f"snapshot {name!r} is being written to the disk of a server")
        await asyncio.shield(self._drop(name, record))

    def volume_deleted(self, volume: str) -> None:
        """Drop the snapshots of a volume that are not ready: they go with it."""
        for name, record in self._unfinished():
            if record.spec.volume == volume:
                self._drop(name, record)

    def server_gone(self, host: str) -> None:
        """Drop the snapshots of the server on a host that are not ready."""
        for name, record in self._unfinished():
            if record.spec.server is not None and record.spec.server.host == host:
                self._drop(name, record)

    def _unfinished(self) -> list[tuple[str, SnapshotRecord]]:
        kept = ((name, record) for name, record in self._records.items() if not record.deleted)
        return [(name, record) for name, record in kept if self._state(record) is SnapshotState.COPYING]

    def source(self, spec: VolumeSpec) -> Path:
        """The folder of the snapshot that a volume is to be made from; refuses one that it cannot be made from."""
        name = spec.snapshot or ""
        record = self._ready(name, spec.region)
        if record.spec.volume is None or record.size_gib is None:
            raise invalid(f"snapshot {name!r} is of a server: no volume is made from it")
        if record.size_gib > spec.size_gib:
            raise invalid(f"snapshot {name!r} has {record.size_gib} GiB, more than the volume")
        return self._folder / name

    def image(self, spec: ServerSpec, region: str) -> str | None:
        """The snapshot that a server is to be made from; None: its image is of the catalogue. Refuses others."""
        name = spec.image
        if name not in self._records:
            return None
        record = self._ready(name, region)
        if record.spec.server is None:
            raise invalid(f"snapshot {name!r} is of a volume: no server is made from it")
        if record.user != spec.user:
            raise invalid(f"snapshot {name!r} is of a server whose user is {record.user!r}, not {spec.user!r}")
        return name

    def _ready(self, name: str, region: str) -> SnapshotRecord:
        record = self._records.get(name)
        if record is None or record.deleted or record.spec.region != region:
            raise invalid(f"snapshot {name!r} does not exist in {region!r}")
        if self._state(record) is not SnapshotState.READY:
            raise invalid(f"snapshot {name!r} is not ready")
        return record

    def _state(self, record: SnapshotRecord) -> SnapshotState:
        is_ready = record.copied and record.due <= self._clock.now()
        return SnapshotState.READY if is_ready else SnapshotState.COPYING

    def _begin(self, name: str, record: SnapshotRecord) -> None:
        try:
            source = self._sources.open(record.spec)
        except Refusal:
            self._drop(name, record)
            return
        task = self._copies[name] = asyncio.create_task(self._copy(name, record, source))
        task.add_done_callback(lambda _: self._copies.pop(name, None))

    async def _copy(self, name: str, record: SnapshotRecord, source: Folder | None) -> None:
        new = self._folder / f"{name}{NEW}"
        try:
            await self._document.settled()
            await asyncio.to_thread(wipe, new)
            if record.spec.server is None:
                await self._copier.copy(source, new, lambda: not record.deleted)
            else:
                size = await self._copier.copy(source, new, lambda: not record.deleted, without=NOT_COPIED)
                await asyncio.to_thread(clean_copy, new, record.user)
                # It must be on disk before the copy is complete: a kill in between would leave one of no size.
                record.size_gib = max(1, -(-size // GIB))
                self._document.touch()
                await self._document.settled()
        except (OSError, TooLarge) as error:
            logger.warning("snapshot %s could not be copied: %s", name, error or "there is too much to copy")
        except Stopped:
            pass
        else:
            if not record.deleted:
                new.rename(self._folder / name)
                record.copied = True
                self._document.touch()
                await self._document.settled()

    def _drop(self, name: str, record: SnapshotRecord) -> asyncio.Task[None]:
        record.deleted = True
        self._document.touch()
        task = asyncio.create_task(self._wipe(name))
        self._wipes.add(task)
        task.add_done_callback(self._wipes.discard)
        return task

    async def _wipe(self, name: str) -> None:
        """Remove the files once it is on disk that they are deleted, or a kill would bring back an empty snapshot."""
        await self._document.settled()
        if name in self._copies:
            await asyncio.wait({self._copies[name]})
        for place in (self._folder / name, self._folder / f"{name}{NEW}"):
            await asyncio.to_thread(wipe, place)

    def _clear(self) -> None:
        for place in list(self._folder.iterdir()) if self._folder.is_dir() else ():
            name, _, rest = place.name.partition(".")
            record = self._records.get(name)
            if rest or (record is not None and record.deleted):
                wipe(place)
            elif record is not None and not record.copied:
                record.copied = True
                self._document.touch()


def _said(spec: SnapshotSpec) -> str:
    if spec.server is not None:
        return f"server {spec.server.server!r} on host {spec.server.host!r}"
    return f"volume {spec.volume!r}"
