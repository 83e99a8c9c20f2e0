"""A cloud without a site: the domain over a database of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.db.engine import Database
from tests.support.cloud import Cloud
from tests.support.factories import seed_world
from tests.support.invariants import assert_sound
from tests.support.postgres import Database as Scratch


@pytest.fixture
async def db(database: Scratch) -> AsyncIterator[Database]:
    """The application's own way to the test's database."""
    made = Database(database.app_url)
    yield made
    await made.close()


@pytest.fixture
async def cloud(db: Database) -> AsyncIterator[Cloud]:
    """One project with plenty of quota; 16 machines and 16 hosts in each region. Every rule holds at the end."""
    async with db.begin() as connection:
        made = Cloud(db, await seed_world(connection))
    yield made
    await assert_sound(db, but=made.broken_on_purpose)
