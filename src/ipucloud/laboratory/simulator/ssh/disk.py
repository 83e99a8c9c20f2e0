"""The disk of one Poplar server: a folder of this machine that the customer sees as `/`."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import Path


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
