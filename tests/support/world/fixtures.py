"""Fixtures of tests that need a world without a site; a folder's conftest imports them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.db.engine import Database
from tests.support.postgres import Database as Scratch
from tests.support.world.world import World, open_world


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
