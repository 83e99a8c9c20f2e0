"""The disks of servers: what deploying removes of one, and how it is filled from a snapshot.

A disk is filled beside its place, and what is recorded as to be filled is, from the beginning, until it is complete.
"""

from __future__ import annotations

import asyncio
import logging
import stat
from collections.abc import Callable
from pathlib import Path

from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.copying import NEW, Copier, Folder, Stopped, TooLarge, open_folder
from ipucloud.laboratory.simulator.ssh.disk import DISK_FOLDER, KEY_FILE
from ipucloud.laboratory.simulator.state import HostRecord
from ipucloud.laboratory.simulator.store import Document
from ipucloud.laboratory.simulator.wiping import wipe
from ipucloud.wire.site import HostState

HOME = "home"
AGAIN_SECONDS = 10.0
"""After how long a disk that could not be filled is filled again."""
logger = logging.getLogger(__name__)


class Disks:
    """The disks of a site's servers, by host, in a folder for each. `snapshots`: the folder of every snapshot."""

    def __init__(self, folder: Path, *, snapshots: Path, copier: Copier, document: Document, clock: Clock) -> None:
        self._folder = folder
        self._snapshots = snapshots
        self._copier = copier
        self._document = document
        self._clock = clock
        self._fills: dict[str, asyncio.Task[None]] = {}

    def open(self, host: str) -> Folder | None:
        return open_folder(self._folder / host, DISK_FOLDER)

    def is_being_filled(self, host: str) -> bool:
        return host in self._fills

    async def erase(self, host: str, record: HostRecord) -> None:
        """Remove what an earlier generation of the server left, once it is on disk that it is to go."""
        await self._document.settled()
        await asyncio.to_thread(_erase, self._folder / host, keep=record.disk == "keep")
        record.disk = None

    def fill(self, host: str, record: HostRecord, ended: Callable[[str], None]) -> None:
        """Begin to fill a disk from its snapshot; `ended` is called in any case, unless the site stops."""

        def end(_: asyncio.Task[None]) -> None:
            del self._fills[host]
            if not self._copier.closed:
                ended(host)

        self._fills[host] = asyncio.create_task(self._fill(host, record, record.snapshot or ""))
        self._fills[host].add_done_callback(end)

    async def close(self) -> None:
        """Stop filling disks."""
        self._copier.close()
        await asyncio.gather(*self._fills.values(), return_exceptions=True)

    async def _fill(self, host: str, record: HostRecord, snapshot: str) -> None:
        folder, server, keep = self._folder / host, record.server, record.disk == "keep"
        new = folder / f"{DISK_FOLDER}{NEW}"

        def is_needed() -> bool:
            return record.state is HostState.DEPLOYING and record.server is server

        try:
            await self._document.settled()
            await asyncio.to_thread(_erase, folder, keep=keep)
            source = open_folder(self._snapshots / snapshot)
            if source is None:
                raise FileNotFoundError(f"snapshot {snapshot} is not there")
            await self._copier.copy(source, new, is_needed, without=frozenset({HOME}) if keep else frozenset())
            if is_needed():
                await asyncio.to_thread(_move_in, new, folder / DISK_FOLDER)
        except Stopped:
            return
        except (OSError, TooLarge) as error:
            logger.warning("host %s: its disk could not be filled: %s", host, error or "the snapshot is too large")
            if is_needed():
                record.due = self._clock.now() + AGAIN_SECONDS
            return
        if is_needed():
            record.snapshot = record.disk = None
            self._document.touch()
            # Nobody works on the disk before that is kept, or a kill would have it filled again.
            await self._document.settled()


def _erase(folder: Path, *, keep: bool) -> None:
    """Remove everything of a server; with `keep`, everything but its host key and the homes on its disk."""
    kept = {folder / KEY_FILE, folder / DISK_FOLDER, folder / DISK_FOLDER / HOME} if keep else set()
    for parent in (folder / DISK_FOLDER, folder):
        for entry in list(parent.iterdir()) if parent.is_dir() else ():
            if entry in kept:
                continue
            if entry.is_dir() and not entry.is_symlink():
                wipe(entry)
            else:
                entry.unlink()


def _move_in(new: Path, disk: Path) -> None:
    """Move what is in a folder into the disk, on which there is nothing of that name."""
    disk.mkdir(exist_ok=True)
    for entry in list(new.iterdir()):
        mode = entry.lstat().st_mode
        if stat.S_ISDIR(mode):
            # One that is closed to its owner cannot be moved.
            entry.chmod(stat.S_IMODE(mode) | stat.S_IRWXU)
        entry.rename(disk / entry.name)
    new.rmdir()
