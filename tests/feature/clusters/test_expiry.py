"""Clusters that expire: one warning an hour before, and the deletion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.clusters.update import update
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterPatch
from ipucloud.db.engine import Database
from ipucloud.policies.expiry import delete_expired_clusters, warn_of_expiry
from tests.feature.billing.test_killed import killed_at
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:00:00Z")
WARNED = "SELECT data ->> 'expires_at' FROM events WHERE type = 'cluster.expiring' ORDER BY transaction, id"


def after(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


@dataclass
class Expiring:
    world: World
    scratch: Scratch

    async def at(self, minutes: float) -> int:
        """How many clusters three workers at once warn of then, before they delete what has expired."""
        stop_clock(self.scratch.owner_url, after(minutes))
        warned = sum(await asyncio.gather(*(warn_of_expiry(self.world.database) for _ in range(3))))
        await delete_expired_clusters(self.world.database, self.world.settings)
        return warned

    async def change(self, cluster: UUID, **fields: Any) -> None:
        async with self.world.database.begin() as connection:
            body = ClusterPatch.model_validate(fields)
            await update(connection, self.world.project.actor, cluster, body=body, if_match=None)

    async def state(self, cluster: UUID) -> str:
        return str((await self.world.cluster(cluster))["state"])


@pytest.fixture
async def expiring(world: World, database: Scratch) -> AsyncIterator[Expiring]:
    world.broken_on_purpose.update({"operation_ends_in_time", "operation_makes_progress"})
    stop_clock(database.owner_url, NOW)
    yield Expiring(world, database)
    start_clock(database.owner_url)


async def test_a_cluster_that_expires_is_warned_of_once_and_deleted(expiring: Expiring) -> None:
    bert = await expiring.world.make_active(expires_at=after(180).isoformat())
    assert await expiring.at(119) == 0
    assert (await expiring.world.cluster(bert))["expiry_warned_at"] is None
    assert await expiring.at(120) == 1
    assert (await expiring.world.cluster(bert))["expiry_warned_at"] == "2026-05-05T12:00:00.000000Z"
    assert await expiring.at(150) == 0
    assert await expiring.world.column(WARNED) == ["2026-05-05T13:00:00Z"]
    assert await expiring.state(bert) == "active"
    assert await expiring.at(180) == 0
    assert await expiring.state(bert) == "deleting"


async def test_an_expiry_that_is_moved_is_warned_of_again(expiring: Expiring) -> None:
    bert = await expiring.world.make_active(expires_at=after(60).isoformat())
    assert await expiring.at(0) == 1
    await expiring.change(bert, expires_at=after(60).isoformat(), tags={"team": "nlp"})
    assert await expiring.at(1) == 0
    await expiring.change(bert, expires_at=after(300).isoformat())
    assert (await expiring.world.cluster(bert))["expiry_warned_at"] is None
    assert await expiring.at(90) == 0
    assert await expiring.at(240) == 1
    await expiring.change(bert, expires_at=None)
    assert await expiring.at(400) == 0
    assert await expiring.state(bert) == "active"
    # Less than an hour ahead: at once.
    await expiring.change(bert, expires_at=after(410).isoformat())
    assert await expiring.at(400) == 1
    assert await expiring.world.column(WARNED) == [
        f"2026-05-05T{hour}Z" for hour in ("11:00:00", "15:00:00", "16:50:00")
    ]


async def test_nobody_is_warned_of_what_will_not_happen(expiring: Expiring) -> None:
    """A protected cluster is not deleted when it expires; one that is being deleted goes anyway."""
    guarded = await expiring.world.make_active("guarded", expires_at=after(30).isoformat(), delete_protection=True)
    going = await expiring.world.make_active("going", expires_at=after(30).isoformat())
    await expiring.world.delete(going)
    assert await expiring.at(0) == 0
    await expiring.change(guarded, delete_protection=False)
    assert await expiring.at(1) == 1
    await expiring.change(guarded, delete_protection=True)
    assert await expiring.at(31) == 0
    assert await expiring.state(guarded) == "active"


def test_a_worker_killed_while_it_warns_leaves_the_warning_to_the_next(database: Scratch) -> None:
    async def warn(database: Database) -> None:
        await warn_of_expiry(database)

    async def work(step: str) -> list[int]:
        db = Database(database.app_url, pool_size=2)
        try:
            if step == "finish":
                warned = await warn_of_expiry(db)
                async with db.read() as connection:
                    counted = "SELECT count(*) FROM events WHERE type = 'cluster.expiring'"
                    return [warned, (await connection.execute(sa.text(counted))).scalar_one()]
            world = await World.seeded(db)
            assert world.settings == Settings()
            for name in ("bert", "ernie"):
                soon = datetime.now(NOW.tzinfo) + timedelta(minutes=30)
                await world.create(name, expires_at=soon.isoformat())
            return []
        finally:
            await db.close()

    asyncio.run(work("begin"))
    assert killed_at(database, "expiry.warned", 2, warn)
    assert asyncio.run(work("finish")) == [1, 2]
