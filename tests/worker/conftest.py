"""A site for each module, a world over it for each test, and what customers log in with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from tests.support.breakable import open_emptied_world
from tests.support.factories import make_ssh_key
from tests.support.openssh import KeyPair, make_key
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite
from tests.support.world import SiteWorld
from tests.support.world.fixtures import site
from tests.worker.customers import Logins
from tests.worker.engines import bench

__all__ = ["bench", "site"]


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, KeyPair]:
    return {name: make_key(tmp_path_factory.mktemp("keys"), name) for name in ("ours", "theirs")}


@pytest.fixture
def logins(pairs: Mapping[str, KeyPair], tmp_path: Path) -> Logins:
    return Logins(pairs, tmp_path)


@pytest.fixture
async def world(
    request: pytest.FixtureRequest, database: Scratch, site: RunningSite, pairs: Mapping[str, KeyPair]
) -> AsyncIterator[SiteWorld]:
    """Opened as the module's `WORLD` has it. Its project has the SSH keys `ours` and `theirs` too."""
    async with getattr(request.module, "WORLD", open_emptied_world)(database, site) as world:
        async with world.database.begin() as connection:
            for name, pair in pairs.items():
                await make_ssh_key(connection, world.project.id, name, pair.public_line)
        yield world
