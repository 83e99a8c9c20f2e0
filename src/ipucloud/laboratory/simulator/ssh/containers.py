"""Programs in container images: each in a sandbox of its own beside the server's, on the same disk.

Its network is its own, too. What listens there is reached as if it were on the server: by the checks of services, by
forwarding over SSH, and so by requests through the API.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ipucloud.laboratory.simulator.images import ImageProblem
from ipucloud.laboratory.simulator.images.store import Images, Unpacked
from ipucloud.laboratory.simulator.sandbox.plan import IMAGE_PROGRAMS, SEARCH_PATH
from ipucloud.laboratory.simulator.sandbox.sandbox import Sandbox, SandboxProblem
from ipucloud.laboratory.simulator.ssh.confinement import Confinement
from ipucloud.laboratory.simulator.ssh.userland import Userland
from ipucloud.wire.images import JobImage

NO_IMAGES = "this site runs no container images: they take a wall of user namespaces"
_OF_THE_SERVER = frozenset({"HOME", "HOSTNAME", "LOGNAME", "SHELL", "USER"})


@dataclass(frozen=True)
class Place:
    """Where a program runs: the sandbox, variables that it has there, and where it starts unless the request says."""

    sandbox: Sandbox
    environment: Mapping[str, str]
    directory: str | None = None


class Containers:
    """Those of one server; `userland` makes the sandbox of an image's files, behind the wall of `confinement`.

    `images` None: the site has none.
    """

    def __init__(self, images: Images | None, confinement: Confinement, userland: Callable[[Path], Userland]) -> None:
        self._images = images
        self._confinement = confinement
        self._userland = userland
        self._running: list[Userland] = []

    @asynccontextmanager
    async def open(self, image: JobImage) -> AsyncIterator[Place]:
        """A place for one program, gone when the block is left. Raises ImageProblem, SandboxProblem."""
        if self._images is None or not await self._confinement.runs_images():
            raise ImageProblem(NO_IMAGES)
        async with self._images.use(image) as unpacked:
            userland = self._userland(unpacked.root)
            try:
                sandbox = await userland.sandbox()
                self._running.append(userland)
                yield Place(sandbox, _environment(unpacked), unpacked.directory)
            finally:
                with suppress(ValueError):
                    self._running.remove(userland)
                await userland.stop()

    async def connect(self, port: int) -> socket.socket | None:
        """A connection to what listens in one of them; None: nothing does."""
        for userland in list(self._running):
            with suppress(SandboxProblem):
                return await (await userland.sandbox()).connect(port)
        return None

    def loads(self) -> Iterator[dict[str, float | int]]:
        """How busy each of them is."""
        return (each.load() for each in self._running)


def _environment(image: Unpacked) -> dict[str, str]:
    own = {name: value for name, value in image.variables.items() if name not in _OF_THE_SERVER}
    return own | {"PATH": f"{IMAGE_PROGRAMS}:{image.variables.get('PATH') or SEARCH_PATH}"}
