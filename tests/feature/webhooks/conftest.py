"""A customer with webhooks, and the server that they call."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ipucloud.db.engine import Database
from tests.feature.webhooks.customer import Customer
from tests.support.factories import make_project
from tests.support.postgres import Database as Scratch
from tests.support.receiver import Receiver, receiving


@pytest.fixture
async def customer(db: Database, database: Scratch) -> Customer:
    async with db.begin() as connection:
        project = await make_project(connection)
    return Customer(db, project, database)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver
