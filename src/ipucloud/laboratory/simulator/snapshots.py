"""Snapshots: copies of volumes, in folders of their own. Each is recorded before it is copied.

It is filled beside its place and moved there once it is complete. One that was not when the site was killed is copied
anew when it starts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.copying import NEW, Copier, Folder, Stopped, TooLarge
from ipucloud.laboratory.simulator.durations import Action, Durations
from ipucloud.laboratory.simulator.refusal import Refusal, invalid, not_found, precondition
from ipucloud.laboratory.simulator.state import SnapshotRecord
from ipucloud.laboratory.simulator.store import Document
from ipucloud.laboratory.simulator.volumes import NAME
from ipucloud.laboratory.simulator.wiping import wipe
from ipucloud.wire.snapshots import Snapshot, SnapshotSpec, SnapshotState
from ipucloud.wire.volumes import Volume, VolumeSpec

WAIT_SECONDS = 1.0
"""How long a request waits for its copy: whatever is written to a small volume after the answer is not in it."""
logger = logging.getLogger(__name__)


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
        volume: Callable[[str], Volume],
        open_volume: Callable[[str], Folder | None],
    ) -> None:
        self._records = records
        self._folder = folder
        self._clock = clock
        self._durations = durations
        self._document = document
        self._copier = copier
        self._volume = volume
        self._open_volume = open_volume
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
        return Snapshot(name=name, spec=record.spec, size_gib=record.size_gib, state=self._state(record))

    async def put(self, name: str, spec: SnapshotSpec) -> Snapshot:
        """Begin to copy a volume, or again if its copy has failed."""
        if not NAME.fullmatch(name):
            raise invalid(f"{name!r} is not the name of a snapshot")
        record = self._records.get(name)
        if record is None:
            size = self._size(spec)
            due = self._clock.now() + self._durations.seconds(Action.SNAPSHOT_COPY, name)
            record = self._records[name] = SnapshotRecord(spec, size, due)
            self._document.touch()
        elif record.deleted:
            raise invalid(f"snapshot {name!r} was deleted; no other gets its name")
        elif record.spec != spec:
            raise precondition(f"snapshot {name!r} is of volume {record.spec.volume!r} in {record.spec.region!r}")
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
        await asyncio.shield(self._drop(name, record))

    def volume_deleted(self, volume: str) -> None:
        """Drop the snapshots of a volume that are not ready: they go with it."""
        for name, record in self._records.items():
            unfinished = not record.deleted and self._state(record) is SnapshotState.COPYING
            if unfinished and record.spec.volume == volume:
                self._drop(name, record)

    def source(self, spec: VolumeSpec) -> Path:
        """The folder of the snapshot that a volume is to be made from; refuses one that it cannot be made from."""
        name = spec.snapshot or ""
        record = self._records.get(name)
        if record is None or record.deleted or record.spec.region != spec.region:
            raise invalid(f"snapshot {name!r} does not exist in {spec.region!r}")
        if self._state(record) is not SnapshotState.READY:
            raise invalid(f"snapshot {name!r} is not ready")
        if record.size_gib > spec.size_gib:
            raise invalid(f"snapshot {name!r} has {record.size_gib} GiB, more than the volume")
        return self._folder / name

    def _state(self, record: SnapshotRecord) -> SnapshotState:
        is_ready = record.copied and record.due <= self._clock.now()
        return SnapshotState.READY if is_ready else SnapshotState.COPYING

    def _size(self, spec: SnapshotSpec) -> int:
        try:
            volume = self._volume(spec.volume)
        except Refusal as refusal:
            raise invalid(refusal.sentence) from refusal
        if volume.spec.region != spec.region:
            raise invalid(f"volume {spec.volume!r} lies in {volume.spec.region!r}, not in {spec.region!r}")
        return volume.spec.size_gib

    def _begin(self, name: str, record: SnapshotRecord) -> None:
        try:
            source = self._open_volume(record.spec.volume)
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
            await self._copier.copy(source, new, lambda: not record.deleted)
        except (OSError, TooLarge) as error:
            logger.warning("snapshot %s could not be copied: %s", name, error or "its volume is too large")
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
