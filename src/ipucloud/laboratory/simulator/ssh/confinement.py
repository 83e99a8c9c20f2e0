"""Which wall there is between the programs of customers and this machine.

| wall | what is needed | what keeps programs in |
|---|---|---|
| `namespaces` | user namespaces that this process may make | an own root directory, processes, users and network |
| `landlock` | Linux 6.12 with Landlock | Landlock, among the files and processes of this machine |
| `none` | nothing | nothing but the limits of each process |
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ipucloud.laboratory.simulator.sandbox import landlock
from ipucloud.laboratory.simulator.sandbox.plan import Wall
from ipucloud.laboratory.simulator.sandbox.sandbox import SandboxProblem
from ipucloud.laboratory.simulator.settings import WallChoice
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.userland import GIB, Userland, may_have_own_users, python
from ipucloud.wire.faults import ServersConfinement

_WALLS: Sequence[Wall] = ("namespaces", "landlock")
_BEHIND_LANDLOCK = (
    "The network, host name and list of processes are those of this machine; its ports and the internet are reached.",
    "Paths are those of this machine: the home and TMPDIR lie on the server's disk, whose path is $IPUCLOUD_ROOT.",
)
_SAME_USER = (
    "The programs of all servers run as the user of the site: they may change modes and times of its files, though "
    "neither read nor write them. They get no Unix sockets, no shared memory (/dev/shm), and no terminals of their "
    "own making (/dev/pts).",
)
_UNCONFINED = (
    "Nothing keeps programs from the files, processes and network that their user may reach.",
    *_BEHIND_LANDLOCK,
)


class Confinement:
    """The wall of a site's servers, tried once, when it is first asked for.

    `choice`: this one, or the first that there is. `unconfined`: without any, programs run all the same. `servers`: the
    folder in which the servers are.
    """

    def __init__(self, choice: WallChoice = "auto", *, unconfined: bool = False, servers: Path | None = None) -> None:
        self._choice = choice
        self._servers = servers
        self._unconfined = unconfined
        self._lock = asyncio.Lock()
        self._wall: Wall | None = "none" if choice == "none" else None
        self._problem: str | None = None

    async def wall(self) -> Wall:
        """The wall. Raises SandboxProblem where programs are not to run."""
        async with self._lock:
            if self._wall is None and self._problem is None:
                await self._choose()
        if self._wall is None:
            raise SandboxProblem(f"{self._problem}")
        return self._wall

    async def runs_images(self) -> bool:
        """Whether programs can have the files of a container image, which takes a root directory of their own."""
        try:
            return await self.wall() == "namespaces"
        except SandboxProblem:
            return False

    async def shown(self) -> ServersConfinement:
        """The wall, for whoever works with the site."""
        try:
            wall = await self.wall()
        except SandboxProblem as problem:
            return ServersConfinement(wall=None, problem=str(problem))
        return ServersConfinement(wall=wall, weaknesses=list(self._weaknesses(wall)))

    def _weaknesses(self, wall: Wall) -> Sequence[str]:
        """In what the wall is weaker than namespaces."""
        if wall == "namespaces":
            return ()
        own_users = self._servers is not None and may_have_own_users(self._servers)
        if wall == "none":
            return _UNCONFINED
        return _BEHIND_LANDLOCK if own_users else (*_BEHIND_LANDLOCK, *_SAME_USER)

    async def _choose(self) -> None:
        problems: dict[Wall, str] = {}
        for wall in _WALLS if self._choice == "auto" else [self._choice]:
            problem = await _problem_with(wall)
            if problem is None:
                self._wall = wall
                return
            problems[wall] = problem
        if self._unconfined or (self._choice == "auto" and in_container()):
            self._wall = "none"
        else:
            self._problem = _refusal(problems)


def in_container() -> bool:
    """Whether this process runs in a container, by what engines leave in one.

    These are the files of Docker and of Podman and CRI-O, Kubernetes' variable, and systemd's for container managers.
    """
    files = ("/.dockerenv", "/run/.containerenv")
    return any(map(os.path.exists, files)) or bool({"KUBERNETES_SERVICE_HOST", "container"} & os.environ.keys())


def _refusal(problems: Mapping[Wall, str]) -> str:
    tried = "; ".join(f"{wall}: {problem}" for wall, problem in problems.items())
    return (
        f"this machine cannot confine the programs of customers, so that none is run ({tried}). Allow one of them, "
        "or start the site with --unconfined"
    )


async def _problem_with(wall: Wall) -> str | None:
    """Why there is no such wall here; None: there is."""
    if sys.platform != "linux":
        return f"{sys.platform} has none"
    if wall == "landlock" and (version := landlock.version()) < landlock.LEAST_VERSION:
        return f"the kernel has version {version} of Landlock, not {landlock.LEAST_VERSION}"
    with tempfile.TemporaryDirectory(prefix="ipucloud-sandbox-") as folder:
        userland = Userland(Disk(Path(folder), "ubuntu", GIB), "try", {}, wall=wall)
        try:
            sandbox = await userland.sandbox()
            done = await sandbox.run([python(), "-ISc", ""], [0, 2, 2])
            status = await done.ended()
            done.close()
        except (SandboxProblem, OSError) as problem:
            return str(problem)
        finally:
            await userland.stop()
    return None if status == 0 else f"{python()} does not run in it"
