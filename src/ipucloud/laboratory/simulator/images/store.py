"""The images of a site: each is unpacked once, into a folder of its own that nothing writes any more."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import DEVNULL, PIPE
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ipucloud.laboratory.simulator.images import ImageProblem, engine
from ipucloud.laboratory.simulator.images.unpack import Specification
from ipucloud.laboratory.simulator.store import replace_file
from ipucloud.wire.images import JobImage, NotAReference, parse

SECONDS = 1800.0
"""To fetch and unpack an image."""
MOST_IMAGES = 8
"""That are kept. Those that were not used for longest go first."""
MOST_VARIABLES = 1000
_AT_ONCE = 2
_NEW = ".new-"
_CONFIG = "config.json"

Fetch = Callable[[Path], Awaitable[Specification]]
"""Brings what is to be unpacked into a folder."""


@dataclass(frozen=True)
class Unpacked:
    """An image that is there: its root directory, its variables, and its working directory, if it names one."""

    root: Path
    variables: Mapping[str, str]
    directory: str | None


class Images:
    """Keeps images in `folder`, each of at most `limit` bytes.

    `open_registries`: as HOST:PORT, those that may be at any address and speak plain HTTP. `use_engine`: an image that
    a container engine on this machine has is taken from there.
    """

    def __init__(
        self, folder: Path, limit: int, *, open_registries: Sequence[str] = (), use_engine: bool = True
    ) -> None:
        self._folder = folder
        self._limit = limit
        self._open = open_registries
        self._use_engine = use_engine
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._used: Counter[str] = Counter()
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._room = asyncio.Lock()
        """Held while it is looked at which images are there, and while some are removed."""
        self._is_clean = False

    @asynccontextmanager
    async def use(self, image: JobImage) -> AsyncIterator[Unpacked]:
        """An image, which stays until the block is left. Raises ImageProblem."""
        with ExitStack() as held:
            yield await self._fetched(image, held)

    async def _fetched(self, image: JobImage, held: ExitStack) -> Unpacked:
        """Raises ImageProblem with a sentence that names the image."""
        try:
            async with asyncio.timeout(SECONDS), self._turns:
                return _unpacked(self._folder / await self._ready(image, held))
        except (TimeoutError, OSError) as error:
            why = "that took too long" if isinstance(error, TimeoutError) else str(error.strerror or error)
            raise ImageProblem(f"the image {image.reference} could not be fetched: {why}") from error
        except (ImageProblem, NotAReference) as problem:
            raise ImageProblem(f"the image {image.reference} could not be fetched: {problem}") from problem

    async def _ready(self, image: JobImage, held: ExitStack) -> str:
        """The name of the image's folder, which is in use until `held` is left."""
        reference = parse(image.reference)
        if self._use_engine and image.username is None and (program := engine.find_engine()) is not None:
            local = await engine.id_of(program, image.reference)
            if local is not None:
                return await self._kept(f"engine-{local}", lambda folder: self._save(program, local, folder), held)
        # An HTTP client, for those who run images only.
        from ipucloud.laboratory.simulator.images.registry import Manifest, Registry, layers_of

        async with Registry.of(reference, image, self._open) as registry:

            async def fetch(folder: Path) -> Specification:
                layers = layers_of(manifest)
                self._check_size(manifest.size)
                files = [folder / f"layer-{number}" for number in range(len(layers))]
                for blob, file in zip((manifest.config, *layers), (folder / "config", *files), strict=True):
                    await registry.fetch(blob, file)
                return self._specification(folder, layers=list(map(str, files)), config=str(folder / "config"))

            manifest: Manifest = await registry.manifest()
            return await self._kept(manifest.digest.removeprefix("sha256:"), fetch, held)

    async def _save(self, program: str, image: str, folder: Path) -> Specification:
        await engine.save(program, image, folder / "archive", self._limit)
        return self._specification(folder, archive=str(folder / "archive"))

    def _specification(self, folder: Path, **more: Any) -> Specification:
        return Specification(root=str(folder / "root"), limit=self._limit, **more)

    def _check_size(self, size: int) -> None:
        if size > self._limit:
            raise ImageProblem(f"it has {size:,} bytes, and {self._limit:,} are the most")

    async def _kept(self, name: str, fetch: Fetch, held: ExitStack) -> str:
        """Fetch and unpack an image unless it is there."""
        async with self._locks[name]:
            async with self._room:
                self._used[name] += 1
                held.callback(self._used.subtract, [name])
                is_there = await asyncio.to_thread((self._folder / name / _CONFIG).is_file)
                staging = None if is_there else await asyncio.to_thread(self._make_room)
            if staging is not None:
                try:
                    config = await _unpack(await fetch(staging))
                    await asyncio.to_thread(_keep, staging, config, self._folder / name)
                finally:
                    await asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True)
            os.utime(self._folder / name)
            return name

    def _make_room(self) -> Path:
        """A new folder. What was not finished is removed, and images that nobody uses beyond those that are kept."""
        self._folder.mkdir(mode=0o755, exist_ok=True)
        there = [each for each in self._folder.iterdir() if self._is_clean or not _removed(each)]
        self._is_clean = True
        idle = sorted((e for e in there if not self._used[e.name] and not e.name.startswith(_NEW)), key=_last_use)
        for folder in idle[: max(0, len(there) + 1 - MOST_IMAGES)]:
            # Whatever happens meanwhile, half an image is never taken for one.
            shutil.rmtree(folder.rename(self._folder / f"{_NEW}{folder.name}"), ignore_errors=True)
            there.remove(folder)
        if len(there) >= MOST_IMAGES:
            raise ImageProblem(f"the site keeps {MOST_IMAGES} images, and programs run in all of them")
        return Path(tempfile.mkdtemp(prefix=_NEW, dir=self._folder))


def _keep(staging: Path, config: Mapping[str, Any], target: Path) -> None:
    """Leave of what was fetched only what it was unpacked to, at its place."""
    for path in staging.iterdir():
        if path.name != "root":
            path.unlink()
    replace_file(staging / _CONFIG, json.dumps(config).encode(), fsync=False)
    staging.chmod(0o755)
    staging.rename(target)


def _removed(folder: Path) -> bool:
    """Whether this was an image that an earlier process had not finished, and is gone."""
    if not folder.name.startswith(_NEW):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return True


def _last_use(folder: Path) -> float:
    return folder.stat().st_mtime


async def _unpack(specification: Specification) -> Mapping[str, Any]:
    """Unpack in a process of its own; answers the image's configuration. Raises ImageProblem."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "ipucloud.laboratory.simulator.images.unpack", specification.encode()),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        said, problem = await process.communicate()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode != 0:
        sentence = problem.decode(errors="replace").strip().rpartition("\n")[2]
        raise ImageProblem(sentence or "it could not be unpacked")
    config: Mapping[str, Any] = json.loads(said)
    return config


def _unpacked(folder: Path) -> Unpacked:
    config = json.loads((folder / _CONFIG).read_bytes())
    lines = config.get("Env")
    pairs = (str(line).partition("=") for line in (lines if isinstance(lines, list) else ())[:MOST_VARIABLES])
    variables = {name: value for name, _, value in pairs if name and "\0" not in name + value}
    directory = config.get("WorkingDir")
    there = isinstance(directory, str) and directory.startswith("/") and "\0" not in directory
    return Unpacked(folder / "root", variables, str(directory) if there else None)
