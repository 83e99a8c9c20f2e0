"""The folder of one Poplar server, which outlives its boots, with the disk that the customer sees as `/`."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from ipucloud.laboratory.simulator.store import replace_file

DISK_FOLDER = "disk"
KEY_FILE = "host_key"
JOBS_FOLDER = "jobs"
"""What the folder of a server has: its disk, its private SSH host key, and what is known of jobs."""


@dataclass(frozen=True)
class Disk:
    """The customer's paths on a disk of `size` bytes."""

    root: Path
    user: str
    size: int

    @property
    def home(self) -> str:
        return f"/home/{self.user}"

    def absolute(self, path: str, cwd: str | None = None) -> str:
        """The customer's path, normalised; a relative one starts at `cwd`, else at home.

        A path of this machine that leads to the disk, as programs have it behind a wall without namespaces, counts from
        the disk on.
        """
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        normal = posixpath.normpath(posixpath.join("/", cwd or self.home, path))
        # POSIX lets a path start with two slashes and keep them; here that is the root like any other.
        return "/" + f"/{normal.lstrip('/')}".removeprefix(f"{self.root}/").lstrip("/")


def host_key(folder: Path, server: str) -> asyncssh.SSHKey:
    """The key by which the server is known, made at its first boot."""
    path = folder / KEY_FILE
    if not path.exists():
        key = asyncssh.generate_private_key("ssh-ed25519", comment=server)
        replace_file(path, key.export_private_key())
        path.chmod(0o600)
    return asyncssh.read_private_key(path)
