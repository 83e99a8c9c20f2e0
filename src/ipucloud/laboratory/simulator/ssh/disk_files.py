"""The files of a simulated server's disk, as the V-IPU commands read and write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ipucloud.laboratory.simulator.ssh.disk import BLOCK, Disk
from ipucloud.laboratory.simulator.store import replace_file
from ipucloud.vipu_cli.files import Files


class ServerFiles(Files, Protocol):
    """The files of a server, by the customer's paths."""

    def absolute(self, path: str) -> str:
        """The path from the root on."""


@dataclass(frozen=True)
class DiskFiles:
    """Files by the customer's paths; relative ones begin at `cwd`, else at home."""

    disk: Disk
    cwd: str | None = None

    def absolute(self, path: str) -> str:
        return self.disk.absolute(path, self.cwd)

    def read(self, path: str) -> bytes:
        return self.disk.real(path, self.cwd).read_bytes()

    def write(self, path: str, content: bytes) -> None:
        place = self.disk.real(path, self.cwd)
        with self.disk.changing(place.parent, place, room=2 * BLOCK + len(content)):
            place.parent.mkdir(parents=True, exist_ok=True)
            replace_file(place, content, fsync=False)

    def names(self, folder: str) -> Sequence[str]:
        place = self.disk.real(folder, self.cwd)
        return sorted(entry.name for entry in place.iterdir() if entry.is_file()) if place.is_dir() else []

    def remove(self, path: str) -> None:
        self.disk.remove(self.disk.real(path, self.cwd))
