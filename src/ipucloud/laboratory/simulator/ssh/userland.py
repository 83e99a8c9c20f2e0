"""The userland of a server: a sandbox of its own with this machine's programs."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from ipucloud.laboratory.simulator.sandbox.plan import (
    DISK_FOLDERS,
    OF_THE_SITE,
    OWN_PROGRAMS,
    RUN_FOLDER,
    TOOLS_FILE,
    WAY_IN,
    Plan,
    Wall,
)
from ipucloud.laboratory.simulator.sandbox.sandbox import Sandbox, SandboxProblem
from ipucloud.laboratory.simulator.sandbox.used import NOTHING, Processors
from ipucloud.laboratory.simulator.ssh import etc_files
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.disk_files import DiskFiles
from ipucloud.laboratory.simulator.ssh.ipu_commands import IpuProgram
from ipucloud.laboratory.simulator.ssh.ipu_run import NAME, IpuRun
from ipucloud.laboratory.simulator.ssh.tools import Tools, launcher

GIB = 1 << 30
MEMORY = 4 * GIB
"""Bytes that the processes of a server have together; one alone can ask for twice as many addresses."""
PROCESSES = 512
CPU_SECONDS = 3600
FILES = 4096
LONGEST_SETTING = 65_536
"""Bytes that are taken of an image's /etc/passwd and /etc/group."""
_NAMES = ("passwd", "group")

_FIRST_UID, _UIDS = 60578, WAY_IN - 60578
"""Numbers of users that no distribution gives to anyone (systemd's documentation lists them): customers', for root."""
_CHANGING_USERS = 0b11101011
"""CAP_CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID and SETUID: what root needs to let a server have a user of its own."""


class Userland:
    """One server's sandbox, started when it is first needed, behind the `wall` that is given or asked for then.

    With an `image`, the folder with its files, it is one beside the server's own, on the same disk: programs there have
    the image's files in place of this machine's. They find the controller's `authority` where those of the server do.
    `made_from`: the name of the image that the server was deployed from.
    """

    def __init__(
        self,
        disk: Disk,
        hostname: str,
        programs: Mapping[str, IpuProgram],
        ipu_run: IpuRun | None = None,
        *,
        wall: Wall | Callable[[], Awaitable[Wall]],
        image: Path | None = None,
        authority: bytes | None = None,
        made_from: str = "",
    ) -> None:
        self._disk = disk
        self._hostname = hostname
        self._programs = programs
        self._ipu_run = ipu_run
        self._wall = wall
        self._image = image
        self._authority = authority
        self._made_from = made_from
        self._tools: Tools | None = None
        self._box: Sandbox | None = None
        self._lock = asyncio.Lock()
        self._stopped = False
        self._processors = Processors()

    async def sandbox(self) -> Sandbox:
        """The running sandbox. Raises SandboxProblem."""
        async with self._lock:
            if self._stopped:
                raise SandboxProblem("the server went down")
            if self._box is None or not self._box.lives:
                await self._end()
                wall = await self._wall() if callable(self._wall) else self._wall
                plan = await asyncio.to_thread(self._prepared, wall)
                self._box = await Sandbox.start(self._disk.root, plan)
                self._tools = Tools(
                    self._programs, self._ipu_run, lambda folder: files_of(self._disk, folder), self._box.token
                )
                await self._tools.start(self._box.tools)
            return self._box

    def load(self) -> dict[str, float | int]:
        """What its programs take of processors and memory, under the names of `Host`."""
        used = self._box.used() if self._box is not None else NOTHING
        return {
            "cpu_percent": self._processors.percent(used.cpu_seconds),
            "memory_used_bytes": min(used.memory, MEMORY),
            "memory_bytes": MEMORY,
        }

    async def stop(self) -> None:
        """End every process of the server, for good."""
        async with self._lock:
            self._stopped = True
            await self._end()

    async def _end(self) -> None:
        if self._tools is not None:
            await self._tools.stop()
        if self._box is not None:
            await self._box.stop()
        self._box = self._tools = None

    def _prepared(self, wall: Wall) -> Plan:
        """Make the folders of the disk, and what root has put there before the first start the customer's."""
        own = [*DISK_FOLDERS, f"home/{self._disk.user}"]
        of_the_site = () if wall == "namespaces" else (*OF_THE_SITE, OWN_PROGRAMS.lstrip("/"))
        for name in (*own, *of_the_site):
            (self._disk.root / name).mkdir(parents=True, exist_ok=True)
        uid = self._user(wall)
        if os.geteuid() == 0:
            for name in (*own, *([] if wall == "namespaces" else [RUN_FOLDER.lstrip("/")])):
                if (self._disk.root / name).stat().st_uid != uid:
                    self._give(self._disk.root / name, uid)
        plan = self._plan(wall, uid)
        return plan if self._image is None else self._image_plan(plan, self._image)

    def _user(self, wall: Wall) -> int:
        """Who the customer is on this machine: a user of the server's own, where this process can choose.

        Without a mount namespace, such a user has to get to the disk by its path, and to Python.
        """
        if may_change_users() if wall == "namespaces" else may_have_own_users(self._disk.root):
            return _FIRST_UID + zlib.crc32(os.fsencode(self._disk.root)) % _UIDS
        return os.geteuid()

    def _give(self, folder: Path, uid: int) -> None:
        """Make a folder of the disk the customer's, with all that is in it."""
        for _, folders, files, descriptor in os.fwalk(folder):
            os.fchown(descriptor, uid, uid)
            for entry in folders + files:
                os.chown(entry, uid, uid, dir_fd=descriptor, follow_symlinks=False)

    def _image_plan(self, plan: Plan, image: Path) -> Plan:
        """The same with the files of an image, which may lack Python: then the server's own commands do not run."""
        there = {
            name: (image / "etc" / name).read_bytes()[:LONGEST_SETTING].decode(errors="replace") for name in _NAMES
        }
        return replace(
            plan,
            image=os.path.relpath(image, self._disk.root),
            programs=[],
            libraries={},
            settings=etc_files.image_settings(self._disk.user, self._hostname, **there, authority=self._authority),
            launchers={"ipucloud-tool": launcher("/usr/bin/env -S python3", TOOLS_FILE)},
            links=dict.fromkeys([*self._programs, NAME], "ipucloud-tool"),
        )

    def _plan(self, wall: Wall, uid: int) -> Plan:
        interpreter = python()
        root = "" if wall == "namespaces" else str(self._disk.root.resolve())
        elsewhere = [] if Path(interpreter).is_relative_to("/usr") else [str(Path(sys.base_prefix).resolve())]
        libraries = numpy()
        return Plan(
            wall=wall,
            root=root,
            user=self._disk.user,
            hostname=self._hostname,
            uid=uid,
            own_user=uid != os.geteuid(),
            programs=elsewhere,
            libraries=libraries,
            settings=etc_files.settings(self._disk.user, self._hostname, root, self._made_from),
            launchers={
                "ipucloud-tool": launcher(interpreter, root + TOOLS_FILE),
                **etc_files.scripts(interpreter),
                **(etc_files.names(self._disk.user, self._hostname) if root else {}),
            },
            links={
                **dict.fromkeys([*self._programs, NAME], "ipucloud-tool"),
                **(dict.fromkeys(("python", "python3"), interpreter) if elsewhere or libraries else {}),
            },
            limits={
                "AS": 2 * MEMORY,
                "NPROC": PROCESSES,
                "CPU": CPU_SECONDS,
                "FSIZE": self._disk.size,
                "NOFILE": FILES,
                "CORE": 0,
            },
            memory=MEMORY,
            disk_size=self._disk.size,
        )


def files_of(disk: Disk, folder: str | None = None) -> DiskFiles:
    """The disk's files from `folder` on; new ones are the customer's."""
    return DiskFiles(disk, folder, owner_of(disk.root) if os.geteuid() == 0 else None)


def owner_of(disk: Path) -> int:
    """Who the customer is on this machine, as the disk shows once the server has run."""
    try:
        return (disk / DISK_FOLDERS[0]).lstat().st_uid
    except FileNotFoundError:
        return os.geteuid()


def python() -> str:
    """The Python that runs this, outside of its virtual environment."""
    return str(Path(sys.executable).resolve())


def numpy() -> dict[str, str]:
    """NumPy for the programs of servers: its folders by their names, where the Python that runs this has it."""
    found = find_spec("numpy")
    folders = [Path(place).resolve() for place in (found and found.submodule_search_locations) or ()]
    brought = [folder.with_name(f"{folder.name}.libs") for folder in folders]  # libraries in C that a wheel brings
    return {folder.name: str(folder) for folder in (*folders, *brought) if folder.is_dir()}


def may_have_own_users(folder: Path) -> bool:
    """Whether servers in a folder may have users of their own, who get there and to Python by their paths."""
    needed = (folder.resolve(), Path(python()).parent)
    return may_change_users() and all(map(_may_pass, {each for place in needed for each in (place, *place.parents)}))


def _may_pass(folder: Path) -> bool:
    status = folder.stat()
    return bool(status.st_mode & stat.S_IXOTH or (status.st_gid == WAY_IN and status.st_mode & stat.S_IXGRP))


def may_change_users() -> bool:
    """Whether this process is root's and may let servers have users of their own."""
    if os.geteuid() != 0 or sys.platform != "linux":
        return False
    status = Path("/proc/self/status").read_text()
    held = next(line for line in status.splitlines() if line.startswith("CapEff:")).split()[1]
    return int(held, 16) & _CHANGING_USERS == _CHANGING_USERS
