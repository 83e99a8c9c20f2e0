"""A place for servers that a test restarts and kills, and the world of a simulated site."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.support.postgres import Database as Scratch
from tests.support.run import fast_storage
from tests.support.site import RunningSite
from tests.support.world import SiteWorld, open_site_world
from tests.support.world.fixtures import site
from tests.worker.engines import bench

__all__ = ["bench", "site"]


@pytest.fixture
def instance_root() -> Iterator[Path]:
    """A directory in memory, if there is enough, that a server's own account may enter."""
    folder = Path(tempfile.mkdtemp(prefix="ipucloud-proof-", dir=fast_storage()))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
async def world(request: pytest.FixtureRequest, database: Scratch, site: RunningSite) -> AsyncIterator[SiteWorld]:
    """Opened as the module's `WORLD` has it."""
    async with getattr(request.module, "WORLD", open_site_world)(database, site) as world:
        yield world
