"""The API in the test's own process, over a database of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.db.engine import Database
from tests.api.support import Api, running
from tests.support.cloud import Cloud
from tests.support.factories import seed_world
from tests.support.invariants import assert_sound
from tests.support.postgres import Database as Scratch
from tests.support.postgres import TestServer


@pytest.fixture(scope="module")
async def shared_api(postgres: TestServer) -> AsyncIterator[Api]:
    """The application for tests that leave everything as it was, started once for the file."""
    with postgres.fresh_database() as scratch:
        database = Database(scratch.app_url)
        async with database.begin() as connection:
            world = await seed_world(connection)
        async with running(Cloud(database, world.project), scratch.app_url) as started:
            yield started
        await assert_sound(database)
        await database.close()


@pytest.fixture
async def db(database: Scratch) -> AsyncIterator[Database]:
    """The application's own way to the test's database, beside the API's."""
    made = Database(database.app_url)
    yield made
    await made.close()


@pytest.fixture
async def cloud(db: Database) -> AsyncIterator[Cloud]:
    """One project with plenty of quota; 16 machines and 16 hosts in each region. Every rule holds at the end."""
    async with db.begin() as connection:
        made = Cloud(db, (await seed_world(connection)).project)
    yield made
    await assert_sound(db, but=made.broken_on_purpose)


@pytest.fixture
async def api(cloud: Cloud, database: Scratch) -> AsyncIterator[Api]:
    """The application, started."""
    async with running(cloud, database.app_url) as started:
        yield started
