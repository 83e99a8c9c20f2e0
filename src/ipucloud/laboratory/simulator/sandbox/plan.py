"""What a sandbox is made of. It crosses from the owner to process 1 as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Self

INSIDE_UID = 1000
"""The customer's user, as programs in the sandbox see it."""

DISK_FOLDERS = ("data", "etc", "mnt", "srv", "tmp", "var", "volumes")
"""Folders of a server's disk, beside the home. Everything else in a sandbox is read-only, or gone at its end."""

OWN_PROGRAMS = "/opt/ipucloud/bin"
TOOLS_SOCKET = "/run/ipucloud.sock"
"""Where the server's own commands reach the owner of the sandbox."""

SEARCH_PATH = f"{OWN_PROGRAMS}:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


@dataclass(frozen=True)
class Plan:
    """`uid`: who the customer is on this machine, when the owner of the sandbox is root and can choose.

    `programs`: further folders of this machine to show, to read. `settings`: files of /etc. `launchers`: files, and
    `links` symbolic links, in OWN_PROGRAMS. `limits`: of each process, by the names of RLIMIT_*. `memory`: bytes that
    all processes have together; `disk_size`: bytes on the disk.
    """

    user: str
    hostname: str
    uid: int
    programs: Sequence[str]
    settings: Mapping[str, str]
    launchers: Mapping[str, str]
    links: Mapping[str, str]
    limits: Mapping[str, int]
    memory: int
    disk_size: int

    @property
    def home(self) -> str:
        return f"/home/{self.user}"

    @property
    def environment(self) -> dict[str, str]:
        """What every program finds in its environment."""
        return {
            "HOME": self.home,
            "USER": self.user,
            "LOGNAME": self.user,
            "SHELL": "/bin/bash",
            "PATH": SEARCH_PATH,
            "LANG": "C.UTF-8",
        }

    def encode(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> Self:
        return cls(**json.loads(text))
