"""The disk of one Poplar server: a folder of this machine that the customer sees as `/`."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Disk:
    """Maps the customer's paths to real ones. No path leads out: the disk holds no symbolic link and takes none."""

    root: Path
    user: str

    @property
    def home(self) -> str:
        return f"/home/{self.user}"

    def prepare(self) -> None:
        """Make the folders that a fresh server has."""
        for folder in (self.home, "/tmp", f"{self.home}/.ipuof.conf.d"):  # noqa: S108 - a path on the simulated disk
            self.real(folder).mkdir(parents=True, exist_ok=True)

    def absolute(self, path: str, cwd: str | None = None) -> str:
        """The customer's path, normalised; a relative one starts at `cwd`, else at home."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        normal = posixpath.normpath(posixpath.join("/", cwd or self.home, path))
        # POSIX lets a path start with two slashes and keep them; here that is the root like any other.
        return "/" + normal.lstrip("/")

    def real(self, path: str, cwd: str | None = None) -> Path:
        """Where the customer's path lies on this machine."""
        return self.root / self.absolute(path, cwd).lstrip("/")
