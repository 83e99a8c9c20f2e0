"""What a sandbox is made of. It crosses from the owner to process 1 as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, Self

Wall = Literal["namespaces", "landlock", "none"]
"""What is between the programs of a server and this machine."""

INSIDE_UID = 1000
"""The customer's user, as programs in the sandbox see it."""

WAY_IN = 61183
"""A group that no distribution gives to anyone (systemd's documentation lists them)."""

DISK_FOLDERS = ("data", "etc", "mnt", "srv", "tmp", "var", "volumes")
"""Folders of a server's disk, beside the home. Everything else in a sandbox is read-only, or gone at its end."""

IMAGE_FOLDERS = ("data", "mnt", "tmp", "volumes")
"""Those that a program in a container image has, too; the rest of its files are the image's, to read."""
IMAGE_SETTINGS = ("group", "hostname", "hosts", "passwd", "resolv.conf", "vipu/ca.pem")
"""Files of /etc that are the server's also in an image, which has places for them once it is unpacked."""

OWN_PROGRAMS, IMAGE_PROGRAMS = "/opt/ipucloud/bin", "/run/ipucloud-bin"
OWN_LIBRARIES = "/opt/ipucloud/lib"
RUN_FOLDER, TOOLS_FILE = "/run", "/run/ipucloud"
"""The file says how the server's own commands reach the owner of the sandbox: a port of the loopback address, and a
token that no other sandbox can read."""
OF_THE_SITE = ("opt", "run")
"""Folders of a disk that a wall without namespaces adds: nothing in them is the customer's to keep."""

SETTINGS = (
    "alternatives",
    "ld.so.cache",
    "localtime",
    "mime.types",
    "pki/ca-trust",
    "protocols",
    "services",
    "ssl/certs",
)
"""What programs need of this machine's /etc: nothing that says whose machine it is, who may log in, or how."""

ROOT = "IPUCLOUD_ROOT"
"""The variable with the path of the server's disk: empty where that is the root directory."""
SEARCH_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


@dataclass(frozen=True)
class Plan:
    """`uid`: who the customer is on this machine; `own_user`: this user has no processes but the server's, and is in
    the group `WAY_IN`, which may pass the folders above the disk.

    `root`: where the server's disk is for its programs: empty where it is their root directory, else its path here.

    `programs`: further folders of this machine to show, to read. `libraries`: such folders by their names in
    `own_libraries`, where Python finds them. `settings`: files of /etc. `launchers`: files, and `links` symbolic links,
    in `own_programs`. `limits`: of each process, by the names of RLIMIT_*. `memory`: bytes that
    all processes have together; `disk_size`: bytes on the disk.

    `image`: the folder with the files of a container image, from the server's disk on: programs have these in place of
    this machine's. Empty: they have this machine's.
    """

    wall: Wall
    root: str
    user: str
    hostname: str
    uid: int
    own_user: bool
    programs: Sequence[str]
    libraries: Mapping[str, str]
    settings: Mapping[str, str]
    launchers: Mapping[str, str]
    links: Mapping[str, str]
    limits: Mapping[str, int]
    memory: int
    disk_size: int
    image: str = ""

    @property
    def own_programs(self) -> str:
        return IMAGE_PROGRAMS if self.image else self.place(OWN_PROGRAMS)

    @property
    def own_libraries(self) -> str:
        return self.place(OWN_LIBRARIES)

    @property
    def disk_folders(self) -> Sequence[str]:
        """Those of the disk that its programs have, beside the home."""
        return IMAGE_FOLDERS if self.image else DISK_FOLDERS

    @property
    def home(self) -> str:
        return self.place(f"/home/{self.user}")

    def place(self, path: str) -> str:
        """Where a path of the server lies for its programs; others, and paths of this machine, are as they are."""
        first = path.lstrip("/").partition("/")[0]
        is_on_disk = path.startswith("/") and first in {*DISK_FOLDERS, *OF_THE_SITE, "home"}
        return self.root + path if is_on_disk and not path.startswith(f"{self.root}/") else path

    @property
    def login_shell(self) -> Sequence[str]:
        """The program of a login without a command."""
        if not self.root:
            return ("bash", "-l")
        return ("bash", "--noprofile", "--rcfile", self.place("/etc/profile"))

    @property
    def environment(self) -> dict[str, str]:
        """What every program finds in its environment."""
        there = {"TMPDIR": self.place("/tmp"), "HOSTNAME": self.hostname}  # noqa: S108 - of the server's disk
        return {
            "HOME": self.home,
            "USER": self.user,
            "LOGNAME": self.user,
            "SHELL": "/bin/bash",
            "PATH": f"{self.own_programs}:{SEARCH_PATH}",
            "LANG": "C.UTF-8",
            ROOT: self.root,
            **({"PYTHONPATH": self.own_libraries} if self.libraries else {}),
            **(there if self.root else {}),
        }

    def encode(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> Self:
        return cls(**json.loads(text))
