"""A cluster over its budget, suspended by the worker against the simulated site."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest

from ipucloud.billing.budgets.evaluate import evaluate_budgets
from ipucloud.billing.budgets.store import NewBudget, Owner, Threshold, create
from ipucloud.kernel.money import Money
from ipucloud.policies.spend_stops import suspend_unpaid
from tests.support.waiting import PATIENCE
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 1, "options": ["--servers", "1"]}


async def over_budget(world: SiteWorld) -> UUID:
    """Look at budgets until the cluster's first second is over; the operation that suspends it then."""
    async with asyncio.timeout(PATIENCE):
        while not await world.value("SELECT count(*) FROM operations WHERE kind = 'cluster.suspend'"):
            await evaluate_budgets(world.database)
            await suspend_unpaid(world.database, world.settings)
    operation: UUID = await world.value("SELECT id FROM operations WHERE kind = 'cluster.suspend'")
    return operation


async def test_a_cluster_says_why_it_was_suspended_as_long_as_it_is(world: SiteWorld) -> None:
    """The minute that began costs more than the budget has."""
    async with world.worker():
        await world.build(flavor="m2000-pod4")
        budget = NewBudget("NLP", Money.of("0.01", "EUR"), None, [Threshold("actual", 100, "suspend")])
        async with world.database.begin() as connection:
            await create(connection, Owner("project", world.project.id), budget, None)
        await world.succeeded(await over_budget(world))
        state, why = await world.one("SELECT state, state_reason FROM clusters")
        assert (state, why) == ("suspended", "the budget 'NLP' has reached 100 % of its amount (actual)")
        assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 0
