"""Clusters that a budget or an empty account suspends: once, and only those that it counts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.billing.budgets import store
from ipucloud.billing.budgets.evaluate import evaluate_budgets
from ipucloud.billing.budgets.store import NewBudget, Owner, Threshold
from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.prepaid.funds import set_prepaid
from ipucloud.billing.prepaid.watch import watch_prepaid
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import BUDGET_REACHED, FUNDS_EXHAUSTED, Problem
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money
from ipucloud.policies.spend_stops import suspend_unpaid
from tests.feature.billing.test_killed import killed_at
from tests.support.factories import Project, make_project
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import start_clock, stop_clock

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:10:00Z")
STATES = "SELECT name || ' ' || state FROM clusters ORDER BY name"
FORCED = "SELECT data FROM events WHERE type = 'cluster.suspend_forced' ORDER BY transaction, id"
SUSPENDS = "SELECT count(*) FROM operations WHERE kind = 'cluster.suspend'"


@dataclass
class Watched:
    """A world in which a worker evaluates budgets and funds whenever the clock is moved; minutes after NOW."""

    world: World
    scratch: Scratch

    async def after(self, minutes: float) -> int:
        """How many clusters three workers at once suspend then."""
        stop_clock(self.scratch.owner_url, NOW + timedelta(minutes=minutes))
        await evaluate_budgets(self.world.database)
        await watch_prepaid(self.world.database)
        settings = self.world.settings
        return sum(await asyncio.gather(*(suspend_unpaid(self.world.database, settings) for _ in range(3))))

    async def cluster(self, name: str, *, project: Project | None = None, **changes: Any) -> UUID:
        """One that is in use."""
        accepted = await self.world.customer(project or self.world.project).create(name, **changes)
        await self.world.finish_create(accepted.target_id)
        return accepted.target_id

    async def budget(
        self, amount: str, percent: int, *, owner: Owner | None = None, tag: tuple[str, str] | None = None
    ) -> tuple[Owner, UUID]:
        whose = owner or Owner("project", self.world.project.id)
        new = NewBudget("NLP", Money.of(amount, "EUR"), tag, [Threshold("actual", percent, "suspend")])
        async with self.world.database.begin() as connection:
            return whose, await store.create(connection, whose, new, None)

    async def raised(self, budget: tuple[Owner, UUID], amount: str) -> None:
        async with self.world.database.begin() as connection:
            await store.update(
                connection, *budget, name=None, amount=Money.of(amount, "EUR"), thresholds=None, actor=None
            )

    async def pay_in(self, amount: str) -> None:
        async with self.world.database.begin() as connection:
            account, euros = self.world.project.id, Money.of(amount, "EUR")
            await record_payment(connection, account, euros, reference=f"test {new_id()}", invoice=None)


@pytest.fixture
async def watched(world: World, database: Scratch) -> AsyncIterator[Watched]:
    world.broken_on_purpose.update({"operation_ends_in_time", "operation_makes_progress"})
    fixture = Watched(world, database)
    stop_clock(database.owner_url, NOW)
    yield fixture
    start_clock(database.owner_url)


async def test_a_budget_suspends_each_cluster_once_a_month(watched: Watched) -> None:
    """Two machines at 0.0625 a minute: 1.25 after ten minutes."""
    world = watched.world
    budget = await watched.budget("1.25", 100)
    bert, ernie = [await watched.cluster(name, delete_protection=name == "bert") for name in ("bert", "ernie")]
    assert await watched.after(9) == 0
    assert await watched.after(10) == 2
    assert await world.column(STATES) == ["bert suspending", "ernie suspending"]
    expected = {"reason": "budget", "budget": {"id": str(budget[1]), "name": "NLP"}, "on": "actual", "percent": 100}
    assert await world.column(FORCED) == [expected] * 2
    assert (await world.cluster(bert))["state_reason"] == "the budget 'NLP' has reached 100 % of its amount (actual)"
    for cluster in (bert, ernie):
        await world.finish_suspend(cluster)
    for begun in (world.resume(bert), world.create("elmo")):
        with pytest.raises(Problem) as refusal:
            await begun
        assert refusal.value.kind is BUDGET_REACHED
    await watched.raised(budget, "2.50")
    await world.resume(bert)
    await world.finish_create(bert)
    assert await watched.after(15) == 0
    # It is reached again, and has suspended this cluster already.
    assert await watched.after(40) == 0
    assert await world.column(STATES) == ["bert active", "ernie suspended"]
    with pytest.raises(Problem, match="budget_reached"):
        await world.resume(ernie)
    assert await world.column(SUSPENDS) == [2]


async def test_what_a_budget_does_not_count_runs_on(watched: Watched) -> None:
    world = watched.world
    await watched.budget("1", 100, tag=("team", "nlp"))
    async with world.database.begin() as connection:
        other = await make_project(connection)
    await watched.cluster("tagged", tags={"team": "nlp"})
    await watched.cluster("plain", tags={"team": "vision"})
    await watched.cluster("stranger", project=other, tags={"team": "nlp"})
    assert await watched.after(30) == 1
    assert await world.column(STATES) == ["plain active", "stranger active", "tagged suspending"]
    await watched.budget("1", 100, owner=Owner("account", other.id))
    # What else is under way on a cluster is not disturbed: it is suspended when that is done.
    [busy] = await world.column("SELECT id FROM clusters WHERE name = 'stranger'")
    await world.customer(other).suspend(busy)
    assert await watched.after(31) == 0
    await watched.budget("1", 100, owner=Owner("account", world.project.id))
    assert await watched.after(32) == 1
    assert await world.column(STATES) == ["plain suspending", "stranger suspending", "tagged suspending"]


async def test_operations_on_partitions_do_not_put_a_suspension_off(watched: Watched) -> None:
    world = watched.world
    await watched.budget("1", 100)
    cluster = await watched.cluster("bert")
    begun = [await world.customer(world.project).create_partition(cluster, name) for name in ("p0", "p1")]
    assert await watched.after(30) == 1
    assert await world.column(STATES) == ["bert suspending"]
    for accepted in begun:
        ended = await world.operation(accepted.operation_id)
        assert (ended["state"], ended["error"]["code"]) == ("failed", "preempted")
        assert "the budget 'NLP' has reached" in ended["error"]["detail"]


async def test_an_account_that_ran_empty_suspends_all_it_pays_for(watched: Watched) -> None:
    """Money for a first hour of each, at 7.50 an hour for both."""
    world = watched.world
    await watched.pay_in("7.50")
    async with world.database.begin() as connection:
        await set_prepaid(connection, world.project.id, currency="EUR", when_empty="suspend")
    bert = await watched.cluster("bert")
    await watched.cluster("ernie")
    with pytest.raises(Problem, match="funds_exhausted"):
        await world.create("elmo")
    assert await watched.after(59) == 0
    assert await watched.after(60) == 2
    assert await world.column(FORCED) == [{"reason": "funds", "account": str(world.project.id)}] * 2
    await world.finish_suspend(bert)
    with pytest.raises(Problem) as refusal:
        await world.resume(bert)
    assert refusal.value.kind is FUNDS_EXHAUSTED
    await watched.pay_in("5.00")
    await world.resume(bert)
    await world.finish_create(bert)
    assert await watched.after(61) == 0
    assert await world.column(STATES) == ["bert active", "ernie suspending"]
    assert await watched.after(150) == 1


def test_a_worker_killed_between_two_leaves_the_second_to_the_next(database: Scratch) -> None:
    async def stop(database: Database) -> None:
        await suspend_unpaid(database, Settings())

    async def work(step: str) -> list[str]:
        db = Database(database.app_url, pool_size=2)
        try:
            if step == "finish":
                assert await suspend_unpaid(db, Settings()) == 1
                async with db.read() as connection:
                    assert (await connection.execute(sa.text(SUSPENDS))).scalar_one() == 2
                    return list((await connection.execute(sa.text(STATES))).scalars())
            watched = Watched(await World.seeded(db), database)
            stop_clock(database.owner_url, NOW)
            await watched.budget("1", 100)
            for name in ("bert", "ernie"):
                await watched.cluster(name)
            stop_clock(database.owner_url, NOW + timedelta(hours=1))
            await evaluate_budgets(db)
            return []
        finally:
            await db.close()

    asyncio.run(work("prepare"))
    assert killed_at(database, "begin.interval_closed", 2, stop)
    assert asyncio.run(work("finish")) == ["bert suspending", "ernie suspending"]
    start_clock(database.owner_url)
