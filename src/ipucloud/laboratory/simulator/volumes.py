"""Volumes: folders of the site that outlive servers. One that is attached lies within the disk of its server.

It is moved there and back by a rename, so that its files are never in two places. What is recorded is written first:
wherever a kill comes between, `start` finds the folder in the one place or the other. One that is made from a snapshot
is filled beside its place, and recorded once it is complete.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

from ipucloud.laboratory.simulator.copying import NEW, Copier, Folder, Stopped, TooLarge, open_folder
from ipucloud.laboratory.simulator.refusal import Refusal, invalid, not_found, precondition
from ipucloud.laboratory.simulator.ssh.disk import DISK_FOLDER
from ipucloud.laboratory.simulator.ssh.userland import owner_of
from ipucloud.laboratory.simulator.state import VolumeRecord
from ipucloud.laboratory.simulator.store import Document
from ipucloud.laboratory.simulator.wiping import wipe
from ipucloud.wire.storage import Volume, VolumeAttachment, VolumeServer, VolumeSpec

NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,126}[a-z0-9])?")
CheckServer = Callable[[VolumeServer], None]
"""Refuses a server that does not run on this host, or not in this network."""
SnapshotOf = Callable[[VolumeSpec], Path]
"""The folder of the snapshot that a volume is to be made from; refuses one that it cannot be made from."""


class Volumes:
    """Every volume of the site, by name."""

    def __init__(
        self,
        regions: frozenset[str],
        records: dict[str, VolumeRecord],
        *,
        folder: Path,
        hosts_folder: Path,
        document: Document,
        copier: Copier,
        snapshot: SnapshotOf,
        deleted: Callable[[str], None],
    ) -> None:
        self._regions = regions
        self._records = records
        self._folder = folder
        self._hosts_folder = hosts_folder
        self._document = document
        self._copier = copier
        self._snapshot = snapshot
        self._deleted = deleted
        self._creating: dict[str, asyncio.Task[None]] = {}

    def start(self) -> None:
        """Bring every folder to where it is recorded, and remove what is left of volumes that are not."""
        for place in list(self._folder.iterdir()) if self._folder.is_dir() else ():
            name, _, rest = place.name.partition(".")
            record = self._records.get(name)
            if record.deleted if record is not None else rest:
                wipe(place)
        for name, record in self._records.items():
            if not record.deleted:
                self._reconcile(name, record)

    def get(self, name: str) -> Volume:
        record = self._existing(name)
        return Volume(name=name, spec=record.spec, attachment=record.attachment)

    def on(self, host: str) -> dict[str, int]:
        """The sizes in bytes of what the server of a host has, by the paths where it has them."""
        return {
            record.attachment.server.path.rstrip("/"): record.spec.size_gib << 30
            for record in self._records.values()
            if record.attachment is not None
            and record.attachment.server is not None
            and record.attachment.server.host == host
        }

    def open(self, name: str) -> Folder | None:
        """The folder of a volume, wherever it is moved from now on; None once its server has removed it."""
        record = self._existing(name)
        server = record.attachment.server if record.attachment is not None else None
        for place in (self._new(name), self._folder / name):
            if _is_folder(place):
                return open_folder(place)
        if server is None:
            return None
        return open_folder(self._hosts_folder / server.host / DISK_FOLDER, *server.path.strip("/").split("/"))

    async def close(self) -> None:
        """Stop filling volumes from snapshots."""
        self._copier.close()
        await asyncio.gather(*self._creating.values(), return_exceptions=True)

    async def put(self, name: str, spec: VolumeSpec) -> Volume:
        """Make a volume, or let it grow. One that is made from a snapshot has its files then."""
        if not NAME.fullmatch(name):
            raise invalid(f"{name!r} is not the name of a volume")
        if spec.region not in self._regions:
            raise not_found(f"region {spec.region!r} does not exist")
        if name not in self._records and (name in self._creating or spec.snapshot is not None):
            await asyncio.shield(self._making(name, spec))
        record = self._records.get(name)
        if record is None:
            record = self._records[name] = VolumeRecord(spec)
            self._reconcile(name, record)
        elif record.deleted:
            raise _was_deleted(name)
        elif record.spec.region != spec.region or record.spec.size_gib > spec.size_gib:
            raise precondition(f"volume {name!r} has {record.spec.size_gib} GiB in {record.spec.region!r}")
        record.spec = record.spec.model_copy(update={"size_gib": spec.size_gib})
        self._document.touch()
        return self.get(name)

    def _making(self, name: str, spec: VolumeSpec) -> asyncio.Task[None]:
        if name not in self._creating:
            task = self._creating[name] = asyncio.create_task(self._make_from_snapshot(name, spec))
            task.add_done_callback(lambda _: self._creating.pop(name))
        return self._creating[name]

    async def _make_from_snapshot(self, name: str, spec: VolumeSpec) -> None:
        """Make a volume that nobody sees before it has its files."""
        source, new = self._snapshot(spec), self._new(name)
        try:
            await self._copier.copy(open_folder(source), new, lambda: name not in self._records)
            # One that was deleted meanwhile may have been copied in part.
            self._snapshot(spec)
        except (OSError, Refusal, Stopped, TooLarge) as problem:
            await asyncio.to_thread(wipe, new)
            if name in self._records:
                raise _was_deleted(name) from problem
            if isinstance(problem, Refusal):
                raise
            raise precondition(f"volume {name!r} could not be filled from snapshot {spec.snapshot!r}") from problem
        record = self._records.setdefault(name, VolumeRecord(spec))
        self._document.touch()
        await self._document.settled()
        if record.deleted:
            await asyncio.to_thread(wipe, new)
        else:
            self._reconcile(name, record)

    async def attach(self, name: str, attachment: VolumeAttachment, check: CheckServer) -> Volume:
        """Give the volume to a server, or to nobody."""
        record = self._existing(name)
        present = record.attachment
        if present is not None and attachment.revision <= present.revision:
            if attachment != present:
                raise precondition(f"volume {name!r} has revision {present.revision} of its attachment")
            return self.get(name)
        if attachment.server is not None:
            check(attachment.server)
            self._check_path(name, attachment.server)
        self._take_back(name, record)
        record.attachment = attachment
        self._document.touch()
        await self._document.settled()
        # A later request may have come meanwhile: the folder goes where it is recorded now.
        if not record.deleted:
            self._reconcile(name, record)
        return self.get(name)

    async def delete(self, name: str) -> None:
        """Remove a volume with its files. The name is kept, also of one that never was."""
        record = self._records.get(name)
        if record is not None and record.attachment is not None and record.attachment.server is not None:
            raise precondition(f"volume {name!r} is attached")
        if record is None:
            self._records[name] = VolumeRecord(VolumeSpec(region="", size_gib=1), deleted=True)
            self._document.touch()
        if record is None or record.deleted:
            raise not_found(f"volume {name!r} does not exist")
        record.deleted = True
        self._document.touch()
        self._deleted(name)
        # It must be on disk before data goes, or a kill here would revive an emptied volume.
        await self._document.settled()
        await asyncio.to_thread(wipe, self._folder / name)

    def leave(self, host: str) -> None:
        """Take every volume from the server of a host, whose disk is wiped, or which is rebuilt."""
        for name, record in self._records.items():
            attachment = record.attachment
            if attachment is not None and attachment.server is not None and attachment.server.host == host:
                self._take_back(name, record)
                record.attachment = VolumeAttachment(revision=attachment.revision, server=None)
                self._document.touch()

    def _new(self, name: str) -> Path:
        """Where a volume is filled."""
        return self._folder / f"{name}{NEW}"

    def _existing(self, name: str) -> VolumeRecord:
        record = self._records.get(name)
        if record is None or record.deleted:
            raise not_found(f"volume {name!r} does not exist")
        return record

    def _check_path(self, name: str, target: VolumeServer) -> None:
        for other, record in self._records.items():
            server = record.attachment.server if record.attachment is not None else None
            if other != name and server is not None and (server.host, server.path) == (target.host, target.path):
                raise precondition(f"host {target.host!r} has another volume at {target.path}")

    def _mount(self, server: VolumeServer) -> Path:
        return self._hosts_folder / server.host / DISK_FOLDER / server.path.lstrip("/")

    def _reconcile(self, name: str, record: VolumeRecord) -> None:
        """Have the folder where it is recorded; one that is nowhere is empty."""
        home = self._folder / name
        new = self._new(name)
        if _is_folder(new):
            new.rename(home)
        server = record.attachment.server if record.attachment is not None else None
        if server is None:
            _make(home)
            return
        mount = self._mount(server)
        if _is_folder(mount) and not home.exists():
            return
        _make(home)
        _make(mount.parent)
        _clear(mount)
        disk = self._hosts_folder / server.host / DISK_FOLDER
        if os.geteuid() == 0:
            _give(home, owner_of(disk))
        home.rename(mount)

    def _take_back(self, name: str, record: VolumeRecord) -> None:
        """Move the folder from the server that has it. Whoever has removed or replaced it has emptied the volume."""
        server = record.attachment.server if record.attachment is not None else None
        home = self._folder / name
        if server is None or home.exists():
            return
        mount = self._mount(server)
        if _is_folder(mount.parent) and _is_folder(mount):
            _make(home.parent)
            mount.rename(home)
        if not _is_folder(home):
            _clear(home)
            _make(home)


def _was_deleted(name: str) -> Refusal:
    return invalid(f"volume {name!r} was deleted; no other gets its name")


def _is_folder(place: Path) -> bool:
    """A folder itself, no link to one: what customers leave on their disks leads nowhere."""
    try:
        return stat.S_ISDIR(place.lstat().st_mode)
    except OSError:
        return False


def _make(folder: Path) -> None:
    if not _is_folder(folder):
        _clear(folder)
        folder.mkdir(parents=True)


def _clear(place: Path) -> None:
    """Remove what is in the place of a folder."""
    if _is_folder(place):
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


def _give(folder: Path, owner: int) -> None:
    """Make a folder a customer's, with all that is in it."""
    for _, folders, files, descriptor in os.fwalk(folder):
        os.fchown(descriptor, owner, owner)
        for entry in folders + files:
            os.chown(entry, owner, owner, dir_fd=descriptor, follow_symlinks=False)
