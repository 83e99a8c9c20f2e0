"""Workers in a test's own process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel.clock import SystemClock
from ipucloud.reconcile.engine import Engine
from ipucloud.site.connect import SiteClients
from ipucloud.worker.main import assemble
from tests.support.waiting import PATIENCE


@asynccontextmanager
async def at_work(engine: Engine) -> AsyncIterator[Engine]:
    """The engine runs while the block does, and drains at its end."""
    running = asyncio.create_task(engine.run())
    try:
        yield engine
    finally:
        engine.stop()
        async with asyncio.timeout(PATIENCE):
            await running


@asynccontextmanager
async def worker(url: str, settings: Settings) -> AsyncIterator[Engine]:
    """A worker as in production, with connections of its own to the database at `url` and to the site."""
    database, sites = Database(url, pool_size=4, pool_timeout=30.0), SiteClients.of(settings)
    try:
        engine, _ = assemble(database, sites, settings, SystemClock())
        async with at_work(engine):
            yield engine
    finally:
        await sites.close()
        await database.close()
