"""Clusters that expire: one warning an hour before, and the deletion."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from ipucloud.db.engine import Database
from ipucloud.policies.expiry import delete_expired_clusters, warn_of_expiry
from tests.feature.billing.test_killed import killed_at, using
from tests.support.postgres import Database as Scratch
from tests.support.world import World

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:00:00Z")
WARNED = "SELECT data ->> 'expires_at' FROM events WHERE type = 'cluster.expiring' ORDER BY transaction, id"


def after(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


@dataclass
class Expiring:
    world: World
    set_clock: Callable[[datetime], None]

    async def at(self, minutes: float) -> int:
        """How many clusters three workers at once warn of then, before they delete what has expired."""
        self.set_clock(after(minutes))
        warned = sum(await asyncio.gather(*(warn_of_expiry(self.world.database) for _ in range(3))))
        await delete_expired_clusters(self.world.database, self.world.settings)
        return warned


@pytest.fixture
def expiring(world: World, set_clock: Callable[[datetime], None]) -> Expiring:
    set_clock(NOW)
    return Expiring(world, set_clock)


async def test_a_cluster_that_expires_is_warned_of_once_and_deleted(expiring: Expiring) -> None:
    bert = await expiring.world.make_active(expires_at=after(180).isoformat())
    assert await expiring.at(119) == 0
    assert (await expiring.world.cluster(bert))["expiry_warned_at"] is None
    assert await expiring.at(120) == 1
    assert (await expiring.world.cluster(bert))["expiry_warned_at"] == "2026-05-05T12:00:00.000000Z"
    assert await expiring.at(150) == 0
    assert await expiring.world.column(WARNED) == ["2026-05-05T13:00:00Z"]
    assert await expiring.world.state(bert) == "active"
    assert await expiring.at(180) == 0
    assert await expiring.world.state(bert) == "deleting"


async def test_an_expiry_that_is_moved_is_warned_of_again(expiring: Expiring) -> None:
    bert = await expiring.world.make_active(expires_at=after(60).isoformat())
    assert await expiring.at(0) == 1
    await expiring.world.update(bert, expires_at=after(60).isoformat(), tags={"team": "nlp"})
    assert await expiring.at(1) == 0
    await expiring.world.update(bert, expires_at=after(300).isoformat())
    assert (await expiring.world.cluster(bert))["expiry_warned_at"] is None
    assert await expiring.at(90) == 0
    assert await expiring.at(240) == 1
    await expiring.world.update(bert, expires_at=None)
    assert await expiring.at(400) == 0
    assert await expiring.world.state(bert) == "active"
    # Less than an hour ahead: at once.
    await expiring.world.update(bert, expires_at=after(410).isoformat())
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
    await expiring.world.update(guarded, delete_protection=False)
    assert await expiring.at(1) == 1
    await expiring.world.update(guarded, delete_protection=True)
    assert await expiring.at(31) == 0
    assert await expiring.world.state(guarded) == "active"


def test_a_worker_killed_while_it_warns_leaves_the_warning_to_the_next(database: Scratch) -> None:
    async def warn(database: Database) -> None:
        await warn_of_expiry(database)

    async def prepare(db: Database) -> None:
        world = await World.seeded(db)
        for name in ("bert", "ernie"):
            soon = datetime.now(NOW.tzinfo) + timedelta(minutes=30)
            await world.create(name, expires_at=soon.isoformat())

    using(database, prepare)
    assert killed_at(database, "expiry.warned", 2, warn)
    assert using(database, warn_of_expiry) == 1
    assert len(using(database, lambda db: World(db).column(WARNED))) == 2
