"""Workers of a test's own process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ipucloud.db.engine import Database
from ipucloud.kernel.clock import SystemClock
from ipucloud.site.connect import SiteClients
from ipucloud.worker.main import assemble
from tests.support.world import PATIENCE, World


@asynccontextmanager
async def worker(world: World, *, url: str | None = None, **changes: Any) -> AsyncIterator[None]:
    """A worker that reaches the world's database by `url`, drained at the end."""
    settings = world.settings.model_copy(update=changes)
    database = Database(url or world.database.url, pool_size=4, pool_timeout=30.0)
    sites = SiteClients.of(settings)
    engine, _ = assemble(database, sites, settings, SystemClock())
    running = asyncio.create_task(engine.run())
    try:
        yield
    finally:
        engine.stop()
        async with asyncio.timeout(PATIENCE):
            await running
        await sites.close()
        await database.close()
