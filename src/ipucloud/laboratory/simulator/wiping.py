"""Removing the disk of a server, whatever a customer's programs have left on it."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from itertools import count
from pathlib import Path

_ALL = 0o700


def wipe(folder: Path) -> None:
    """Remove a folder with all that is in it: folders that are closed to their owner, and any number within each other.

    Folders are brought up to the top before they are emptied, so that no path becomes long and nothing recurs.
    """
    names = count()
    pending = [folder]
    while pending:
        place = pending.pop()
        with suppress(OSError):
            place.chmod(_ALL)
            with os.scandir(place) as entries:
                children = list(entries)
            for entry in children:
                if entry.is_dir(follow_symlinks=False):
                    # One that is closed to its owner cannot be moved: its `..` would have to be written.
                    Path(entry.path).chmod(_ALL)
                    moved = folder / f".wiped-{next(names)}" if place != folder else Path(entry.path)
                    if moved != Path(entry.path):
                        os.rename(entry.path, moved)  # noqa: PTH104 - a Path of it is not needed
                    pending.append(moved)
                else:
                    os.unlink(entry.path)  # noqa: PTH108 - as above
        if place != folder:
            with suppress(OSError):
                place.rmdir()
    shutil.rmtree(folder, ignore_errors=True)
