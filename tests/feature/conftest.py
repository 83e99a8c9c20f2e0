"""A world without a site: the domain over a database of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

import pytest

from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import start_clock, stop_clock
from tests.support.world.fixtures import db, world

__all__ = ["db", "set_clock", "world"]


@pytest.fixture
def set_clock(world: World, database: Scratch) -> Iterator[Callable[[datetime], None]]:
    """Stops the database's clock at an instant. No worker goes on with what is begun meanwhile."""
    world.broken_on_purpose.update({"operation_ends_in_time", "operation_makes_progress"})
    yield partial(stop_clock, database.owner_url)
    start_clock(database.owner_url)
