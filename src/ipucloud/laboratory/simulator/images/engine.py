"""Images that a Docker or Podman engine on this machine has already. Nothing is pulled with it, and nothing run."""

from __future__ import annotations

import asyncio
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from pathlib import Path

from ipucloud.laboratory.simulator.images import ImageProblem

PROGRAMS = ("docker", "podman")
ANSWER_SECONDS = 20.0
_PIECE = 1 << 20
_ID = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def find_engine() -> str | None:
    """The program of an engine; None: there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


async def id_of(engine: str, reference: str) -> str | None:
    """The id of an image that the engine has, 64 digits; None: it has none, or does not answer."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(ANSWER_SECONDS):
            process = await asyncio.create_subprocess_exec(
                *(engine, "image", "inspect", "--format", "{{.Id}}", reference),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=DEVNULL,
            )
            try:
                said, _ = await process.communicate()
            finally:
                await _end(process)
        match = _ID.fullmatch(said.decode(errors="replace").strip())
        return match[1] if match and process.returncode == 0 else None
    return None


async def save(engine: str, image: str, target: Path, limit: int) -> None:
    """Write an image into a file as a tar archive of its layers. Raises ImageProblem, OSError."""
    process = await asyncio.create_subprocess_exec(
        engine, "image", "save", image, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, limit=_PIECE
    )
    try:
        remaining = limit
        with target.open("xb") as file:
            while process.stdout is not None and (piece := await process.stdout.read(_PIECE)):
                remaining -= len(piece)
                if remaining < 0:
                    raise ImageProblem("it is larger than the disk of a server")
                file.write(piece)
        if await process.wait() != 0:
            raise ImageProblem("the container engine of the site does not give it")
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
