"""Books of a year that exports are made of."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.db.engine import Database
from tests.feature.billing.books import Books, open_books
from tests.support.postgres import Database as Scratch


@pytest.fixture
async def books(database: Scratch) -> AsyncIterator[Books]:
    made = Database(database.app_url)
    yield await open_books(made, database.owner_url)
    await made.close()
