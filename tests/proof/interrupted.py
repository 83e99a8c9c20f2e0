"""Requests at the boundaries of what a periodic task does: before one of its transactions, and inside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from tests.support.waiting import until
from tests.support.world import SiteWorld


class Moment(StrEnum):
    """`before`: what the task knows was read before the request. `inside`: the request comes while the transaction
    holds its locks, and waits for them."""

    BEFORE = "before"
    INSIDE = "inside"


Act = Callable[[], Awaitable[None]]


class Interrupted(Database):
    """The database of a task; at these transactions, counted from 1, somebody requests something, once each."""

    def __init__(self, world: SiteWorld, acts: Mapping[tuple[int, Moment], Act]) -> None:
        super().__init__(world.database.url, pool_size=2, pool_timeout=30.0)
        self.pending = dict(acts)
        self.begun = 0
        self._world = world

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        self.begun += 1
        number = self.begun
        if act := self.pending.pop((number, Moment.BEFORE), None):
            await act()
        act = self.pending.pop((number, Moment.INSIDE), None)
        requested: asyncio.Future[None] | None = None
        try:
            async with super().begin() as connection:
                yield connection
                if act is not None:
                    requested = asyncio.ensure_future(act())
                    await self._waits(requested)
        finally:
            if requested is not None:
                await requested

    async def _waits(self, requested: asyncio.Future[None]) -> None:
        """Return once the request waits for a lock of this transaction, or is done because it needs none of them."""
        waiting = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )

        async def stands() -> bool:
            return requested.done() or bool(await self._world.value(waiting))

        await until(stands, "the request waits for a lock, or is done")


@asynccontextmanager
async def interrupted(world: SiteWorld, acts: Mapping[tuple[int, Moment], Act]) -> AsyncIterator[Interrupted]:
    """For one run of a task, which must reach all of these transactions."""
    database = Interrupted(world, acts)
    try:
        yield database
    finally:
        await database.close()
    assert not database.pending, f"it has {database.begun} transactions, and never reached {sorted(database.pending)}"
