"""A healthy world to corrupt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ipucloud.db.engine import Database
from tests.feature.invariants.healthy import Healthy, build
from tests.support.postgres import TestServer
from tests.support.world import World
from tests.support.world.clock import shift_clock


@pytest.fixture(scope="module")
def model(postgres: TestServer) -> Iterator[tuple[Healthy, datetime]]:
    """The world that every test gets a copy of, and when it was built."""
    with postgres.fresh_database() as scratch:

        async def built() -> Healthy:
            database = Database(scratch.app_url)
            try:
                return await build(database, scratch)
            finally:
                await database.close()

        yield asyncio.run(built()), datetime.now(UTC)


@pytest.fixture
async def healthy(postgres: TestServer, model: tuple[Healthy, datetime]) -> AsyncIterator[Healthy]:
    """Every rule holds, and nothing looks after it at the end. It was built just now by its own clock."""
    built, at = model
    with postgres.fresh_database(built.scratch.name) as scratch:
        shift_clock(scratch.owner_url, f"{(at - datetime.now(UTC)).total_seconds()} seconds")
        database = Database(scratch.app_url)
        try:
            yield replace(built, world=World(database, built.world.project), scratch=scratch)
        finally:
            await database.close()
