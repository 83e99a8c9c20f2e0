"""Cost limits of tokens: what is begun counts, what is beyond is refused, and what reaches it is suspended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.clusters.update import update
from ipucloud.contract.clusters import ClusterPatch
from ipucloud.identity.roles import Role
from ipucloud.identity.tables import tokens
from ipucloud.kernel.errors import COST_LIMIT_REACHED, Problem
from ipucloud.policies.spend_stops import suspend_unpaid
from tests.support.factories import make_token
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import start_clock, stop_clock
from tests.support.world.customer import Customer

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:10:00Z")
STATES = "SELECT name || ' ' || state FROM clusters ORDER BY name"
FORCED = "SELECT data FROM events WHERE type = 'cluster.suspend_forced' ORDER BY transaction, id"
COST = "SELECT token_cost(project_id, id) FROM tokens WHERE cost_limit IS NOT NULL"


@dataclass
class Assistant:
    """Somebody with a token that has a cost limit, in a world whose clock is moved; minutes after NOW."""

    world: World
    scratch: Scratch
    token: UUID

    @property
    def customer(self) -> Customer:
        actor = replace(self.world.project.actor, token_id=self.token)
        return Customer(self.world.database, lambda: actor, self.world.settings, self.world.catalogue)

    async def after(self, minutes: float) -> int:
        """How many clusters three workers at once suspend then."""
        stop_clock(self.scratch.owner_url, NOW + timedelta(minutes=minutes))
        settings = self.world.settings
        return sum(await asyncio.gather(*(suspend_unpaid(self.world.database, settings) for _ in range(3))))

    async def cluster(self, name: str) -> UUID:
        accepted = await self.customer.create(name)
        await self.world.finish_create(accepted.target_id)
        return accepted.target_id


@pytest.fixture
async def assistant(world: World, database: Scratch) -> AsyncIterator[Assistant]:
    """Its limit is 7 EUR; a cluster is 3.75 an hour."""
    world.broken_on_purpose.update({"operation_ends_in_time", "operation_makes_progress"})
    async with world.database.begin() as connection:
        token = await make_token(connection, world.project.id, Role.OPERATOR)
        limit = {"cost_limit": 7, "cost_currency": "EUR"}
        await connection.execute(sa.update(tokens).where(tokens.c.id == token.id).values(limit))
    stop_clock(database.owner_url, NOW)
    yield Assistant(world, database, token.id)
    start_clock(database.owner_url)


async def test_what_a_limit_does_not_cover_for_an_hour_is_refused(assistant: Assistant) -> None:
    """Of two at once one is refused; another token's clusters are not counted."""
    world = assistant.world
    await world.create("other")
    begun = await asyncio.gather(
        *(assistant.customer.create(name) for name in ("bert", "ernie")), return_exceptions=True
    )
    [refused] = [each for each in begun if isinstance(each, Problem)]
    assert refused.kind is COST_LIMIT_REACHED
    assert refused.extra["cost_limit"] == {
        "limit": {"amount": "7.00", "currency": "EUR"},
        "cost": {"amount": "0.00", "currency": "EUR"},
        "needed": {"amount": "7.50", "currency": "EUR"},
    }
    assert len(await world.column("SELECT name FROM clusters")) == 2
    assert len(await world.column("SELECT cluster_id FROM token_clusters")) == 1


async def test_a_waiting_cluster_is_refused_too(assistant: Assistant) -> None:
    await assistant.customer.create("bert")
    with pytest.raises(Problem, match="cost_limit_reached"):
        await assistant.customer.create("ernie", wait_for_capacity=True)


async def test_clusters_that_reach_the_limit_are_suspended_and_the_token_resumes_none(assistant: Assistant) -> None:
    world = assistant.world
    bert = await assistant.cluster("bert")
    assert await assistant.after(111) == 0
    assert await assistant.after(112) == 1
    assert await world.column(STATES) == ["bert suspending"]
    [name] = await world.column("SELECT name FROM tokens WHERE cost_limit IS NOT NULL")
    token = {"id": str(assistant.token), "name": name}
    assert await world.column(FORCED) == [{"reason": "cost_limit", "token": token}]
    assert (await world.cluster(bert))["state_reason"] == f"the cost limit of the token {name!r} is reached"
    await world.finish_suspend(bert)
    with pytest.raises(Problem, match="cost_limit_reached"):
        await assistant.customer.resume(bert)
    # Somebody else takes it over: it is theirs from then on.
    await world.resume(bert)
    await world.finish_create(bert)
    assert await assistant.after(300) == 0
    assert await world.column(COST) == [7]


async def test_what_a_token_resumes_or_keeps_in_use_counts_from_then_on(assistant: Assistant) -> None:
    world = assistant.world
    accepted = await world.create("bert")
    await world.finish_create(accepted.target_id)
    await assistant.after(60)
    assert await world.column(COST) == [0]
    async with world.database.begin() as connection:
        actor = replace(world.project.actor, token_id=assistant.token)
        body = ClusterPatch(expires_at=NOW + timedelta(days=2))
        await update(connection, actor, accepted.target_id, body=body, if_match=None)
    await assistant.after(70)
    assert await world.column(COST) == [Decimal("0.625")]
    assert await assistant.after(60 + 112) == 1
