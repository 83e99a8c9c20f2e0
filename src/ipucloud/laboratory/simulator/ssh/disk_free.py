"""`df` of volumes, which are folders here: their sizes are the site's, the kernel would show this machine's disk."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ipucloud.laboratory.simulator.sandbox.kernel import open_in_root
from ipucloud.laboratory.simulator.ssh.ipu_commands import Caller, IpuParser
from ipucloud.laboratory.simulator.ssh.terminal import CommandProblem, Instead, Terminal

PROGRAM = "/usr/bin/df"
MOST_ENTRIES = 200_000
"""Files and folders that are looked at; what is beyond is not counted."""
_HEADS = ("Filesystem", "{unit}", "Used", "{free}", "Use%", "Mounted on")

Volumes = Callable[[], Mapping[str, int]]
"""The sizes of a server's volumes in bytes, by the paths where it has them."""


class _Row(NamedTuple):
    mount: str
    size: int
    used: int


class DiskFree:
    """`df` for paths on volumes; for all else, and with options that are not known here, it is this machine's."""

    def __init__(self, disk: Path, volumes: Volumes) -> None:
        self._disk = disk
        self._volumes = volumes

    async def __call__(self, caller: Caller, args: list[str], terminal: Terminal) -> int:
        try:
            options = _parser().parse_args(args)
        except CommandProblem:
            raise Instead([PROGRAM, *args]) from None
        volumes = self._volumes()
        mounts = [_mount(caller.files.absolute(path), volumes) for path in options.paths]
        chosen = sorted(volumes) if not mounts else [mount for mount in mounts if mount]
        if len(chosen) < max(1, len(mounts)):
            raise Instead([PROGRAM, *args])
        rows = [_Row(mount, volumes[mount], await asyncio.to_thread(self._used, mount)) for mount in chosen]
        await terminal.out(_table(rows, human=options.human))
        return 0

    def _used(self, mount: str) -> int:
        """Bytes that the files of a volume take. What the customer's programs remove meanwhile is not counted."""
        used = entries = 0
        root = os.open(self._disk, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            volume = open_in_root(root, mount, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return 0
        finally:
            os.close(root)
        try:
            for _, _, files, folder in os.fwalk(".", dir_fd=volume):
                for name in files:
                    with suppress(OSError):
                        used += os.stat(name, dir_fd=folder, follow_symlinks=False).st_blocks * 512
                entries += len(files) + 1
                if entries > MOST_ENTRIES:
                    break
        finally:
            os.close(volume)
        return used


def _parser() -> argparse.ArgumentParser:
    parser = IpuParser(prog="df", allow_abbrev=False, add_help=False)
    parser.add_argument("-h", "--human-readable", dest="human", action="store_true")
    parser.add_argument("-k", "-P", "--portability", action="store_true")
    parser.add_argument("paths", nargs="*")
    return parser


def _mount(path: str, volumes: Mapping[str, int]) -> str | None:
    """Where the volume is that a path lies on; None: it lies on none."""
    return next((mount for mount in volumes if f"{path}/".startswith(f"{mount}/")), None)


def _table(rows: list[_Row], *, human: bool) -> str:
    unit, free = ("Size", "Avail") if human else ("1K-blocks", "Available")
    cells = [[head.format(unit=unit, free=free) for head in _HEADS]]
    for row in rows:
        left = max(0, row.size - row.used)
        figures = [_amount(each, human=human) for each in (row.size, row.used, left)]
        cells.append(["volume", *figures, f"{-(-100 * row.used // row.size)}%", row.mount])
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADS))]
    return "".join(_line(line, widths) for line in cells)


def _line(cells: list[str], widths: list[int]) -> str:
    first, *figures, mount = cells
    shown = [first.ljust(widths[0]), *(each.rjust(width) for each, width in zip(figures, widths[1:], strict=False))]
    return f"{' '.join(shown)} {mount}\n"


def _amount(size: int, *, human: bool) -> str:
    """In blocks of 1 KiB, rounded up, or for people as `df -h` writes it."""
    if not human:
        return str(-(-size // 1024))
    units = iter(["", "K", "M", "G", "T"])
    unit, rest = next(units), float(size)
    while rest >= 1024 and unit != "T":
        unit, rest = next(units), rest / 1024
    return f"{rest:.1f}{unit}" if 0 < rest < 10 and unit else f"{rest:.0f}{unit}"
