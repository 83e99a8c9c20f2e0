"""A world without a site: the domain over a database of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.db.engine import Database
from tests.support.postgres import Database as Scratch
from tests.support.world import World, open_world


@pytest.fixture
async def db(database: Scratch) -> AsyncIterator[Database]:
    """The application's own way to the test's database."""
    made = Database(database.app_url)
    yield made
    await made.close()


@pytest.fixture
async def world(database: Scratch) -> AsyncIterator[World]:
    """One project with plenty of quota; 16 machines and 16 hosts in each region. Every rule holds at the end."""
    async with open_world(database.app_url) as world:
        yield world
