"""The API in the test's own process, over a database of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.support import UNLIMITED, Api, running
from tests.support.postgres import Database as Scratch
from tests.support.postgres import TestServer
from tests.support.world import World, open_world
from tests.support.world.clock import stop_clock
from tests.support.world.fixtures import db, world

if TYPE_CHECKING:
    from tests.support.oidc_provider import RunningProvider

__all__ = ["api", "db", "shared_api", "world"]


@pytest.fixture(scope="module")
async def shared_api(postgres: TestServer) -> AsyncIterator[Api]:
    """The application for tests that leave everything as it was, started once for the file."""
    with postgres.fresh_database() as scratch:
        async with open_world(scratch.app_url) as world, running(world, scratch.app_url) as started:
            yield started


@pytest.fixture
def settings() -> dict[str, object]:
    """Of the application that a test gets."""
    return UNLIMITED


@pytest.fixture
async def api(world: World, database: Scratch, settings: dict[str, object]) -> AsyncIterator[Api]:
    """The application, started."""
    async with running(world, database.app_url, settings=settings) as started:
        yield started


@pytest.fixture(scope="module")
def sso() -> Iterator[RunningProvider]:
    """An OpenID Connect provider."""
    from tests.support.oidc_provider import oidc_provider

    with oidc_provider() as started:
        yield started


@pytest.fixture
async def admin(api: Api) -> httpx.AsyncClient:
    """An administrator of the platform."""
    return await api.caller(Role.ADMIN)


@pytest.fixture
def stopped_clock(database: Scratch) -> None:
    """For tests that compare a cluster with itself: its billed minutes, and so its tag, stay as they are."""
    stop_clock(database.owner_url, datetime.now(UTC))
