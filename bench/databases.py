"""The product's way to a database, closed however a scenario ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from ipucloud.db.engine import Database


@asynccontextmanager
async def opened(
    url: str, *, pool_size: int = 1, pool_timeout: float = 5.0, planned_once: bool = False
) -> AsyncIterator[Database]:
    database = Database(url, pool_size=pool_size, pool_timeout=pool_timeout, planned_once=planned_once)
    try:
        yield database
    finally:
        await database.close()


@contextmanager
def kept_open(url: str, *, pool_size: int = 1) -> Iterator[tuple[asyncio.Runner, Database]]:
    """A database that stays open from one `Runner.run` to the next."""
    with asyncio.Runner() as runner:
        database = Database(url, pool_size=pool_size)
        try:
            yield runner, database
        finally:
            runner.run(database.close())
