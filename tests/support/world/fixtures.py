"""Fixtures of worlds; a folder's conftest imports what its tests ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from types import MappingProxyType
from typing import Any

import pytest

from ipucloud.db.engine import Database
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.world.world import World, open_world

SMALL_SITE = MappingProxyType[str, Any]({"machines": 2, "options": ["--servers", "1"]})


@pytest.fixture
async def db(database: Scratch) -> AsyncIterator[Database]:
    """The application's own way to the test's database."""
    client = Database(database.app_url)
    yield client
    await client.close()


@pytest.fixture
async def world(database: Scratch) -> AsyncIterator[World]:
    """One project with plenty of quota; 16 machines and 16 hosts in each region. Every rule holds at the end."""
    async with open_world(database.app_url) as world:
        yield world


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    """A simulated site for the tests of a module, whose `SITE` has the arguments of `running_site`."""
    arguments = getattr(request.module, "SITE", SMALL_SITE)
    with running_site(tmp_path_factory.mktemp("site"), **arguments) as site:
        yield site
