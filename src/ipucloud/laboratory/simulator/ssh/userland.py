"""The userland of a server: a sandbox of its own with this machine's programs, if this machine can confine them."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from ipucloud.laboratory.simulator.sandbox.plan import DISK_FOLDERS, OWN_PROGRAMS, Plan
from ipucloud.laboratory.simulator.sandbox.sandbox import Sandbox, SandboxProblem
from ipucloud.laboratory.simulator.sandbox.used import NOTHING, Processors
from ipucloud.laboratory.simulator.settings import Shells
from ipucloud.laboratory.simulator.ssh import etc
from ipucloud.laboratory.simulator.ssh.beneath import BeneathFiles, supported
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.ipu_commands import IpuProgram
from ipucloud.laboratory.simulator.ssh.ipu_run import NAME, IpuRun
from ipucloud.laboratory.simulator.ssh.tools import LAUNCHER, Tools

GIB = 1 << 30
MEMORY = 4 * GIB
"""Bytes that the processes of a server have together; one alone can ask for twice as many addresses."""
PROCESSES = 512
CPU_SECONDS = 3600
FILES = 4096

_FIRST_UID, _UIDS = 60578, 606
"""Numbers of users that no distribution gives to anyone (systemd's documentation lists them): customers', for root."""


class Confinement:
    """Whether this machine can confine a customer's programs, tried once, when it is first asked for."""

    def __init__(self, wanted: Shells = "auto") -> None:
        self._problem: str | None = None if wanted == "auto" else "the site was started with --shell built-in"
        self._known = wanted != "auto"
        self._lock = asyncio.Lock()
        self.possible = wanted == "auto"
        """False once it is known that there are only built-in shells."""

    async def problem(self) -> str | None:
        """Why there are only built-in shells; None where customers have a sandbox."""
        async with self._lock:
            if not self._known:
                self._problem = await _try()
                self._known, self.possible = True, self._problem is None
        return self._problem


async def _try() -> str | None:
    if sys.platform != "linux":
        return f"{sys.platform} confines no programs as Linux does"
    if not await asyncio.to_thread(supported):
        return "this machine's kernel, or what confines this process, does not open paths beneath a folder"
    with tempfile.TemporaryDirectory(prefix="ipucloud-sandbox-") as folder:
        userland = Userland(Disk(Path(folder), "ubuntu", GIB), "try", {})
        try:
            sandbox = await userland.sandbox()
            done = await sandbox.run([_python(), "-ISc", ""], [0, 2, 2])
            status = await done.ended()
            done.close()
        except (SandboxProblem, OSError) as problem:
            return str(problem)
        finally:
            await userland.stop()
    return None if status == 0 else f"{_python()} does not run in it"


class Userland:
    """One server's sandbox, started when it is first needed."""

    def __init__(
        self, disk: Disk, hostname: str, programs: Mapping[str, IpuProgram], ipu_run: IpuRun | None = None
    ) -> None:
        self.uid = owner_of(disk.root)
        self._disk = disk
        self._hostname = hostname
        self._programs = programs
        self._ipu_run = ipu_run
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
                await asyncio.to_thread(self._prepare)
                self._box = await Sandbox.start(self._disk.root, self._plan())
                self._tools = Tools(self._programs, self._ipu_run, lambda folder: files_of(self._disk, folder))
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

    def _prepare(self) -> None:
        """Make the folders of the disk, and what root has put there before the first start the customer's."""
        own = (*DISK_FOLDERS, f"home/{self._disk.user}")
        for name in own:
            (self._disk.root / name).mkdir(parents=True, exist_ok=True)
        if os.geteuid() != 0:
            return
        for name in own:
            if (self._disk.root / name).stat().st_uid != self.uid:
                self._give(self._disk.root / name)

    def _give(self, folder: Path) -> None:
        """Make a folder of the disk the customer's, with all that is in it."""
        for _, folders, files, descriptor in os.fwalk(folder):
            os.fchown(descriptor, self.uid, self.uid)
            for entry in folders + files:
                os.chown(entry, self.uid, self.uid, dir_fd=descriptor, follow_symlinks=False)

    def _plan(self) -> Plan:
        python = Path(_python())
        elsewhere = [] if python.is_relative_to("/usr") else [str(Path(sys.base_prefix).resolve())]
        launcher = f"#!{python} -IS\n{LAUNCHER}"
        return Plan(
            user=self._disk.user,
            hostname=self._hostname,
            uid=self.uid,
            programs=elsewhere,
            settings=etc.settings(self._disk.user, self._hostname),
            launchers={"ipucloud-tool": launcher, **etc.scripts(str(python))},
            links={
                **dict.fromkeys([*self._programs, NAME], f"{OWN_PROGRAMS}/ipucloud-tool"),
                **(dict.fromkeys(("python", "python3"), str(python)) if elsewhere else {}),
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


def files_of(disk: Disk, folder: str | None = None) -> BeneathFiles:
    """The disk's files from `folder` on; new ones are the customer's."""
    return BeneathFiles(disk, folder, owner_of(disk.root) if os.geteuid() == 0 else None)


def owner_of(disk: Path) -> int:
    """Who the customer is on this machine: a user of the server's own, where this process can choose."""
    return _FIRST_UID + zlib.crc32(os.fsencode(disk)) % _UIDS if os.geteuid() == 0 else os.geteuid()


def _python() -> str:
    """The Python that runs this, outside of its virtual environment."""
    return str(Path(sys.executable).resolve())
