"""Clusters that a budget, an empty account or a token's cost limit suspends: once, and only those that it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
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
from ipucloud.identity.roles import Role
from ipucloud.identity.tables import tokens
from ipucloud.kernel.errors import BUDGET_REACHED, COST_LIMIT_REACHED, FUNDS_EXHAUSTED, Problem
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money
from ipucloud.policies.spend_stops import suspend_unpaid
from tests.feature.billing.test_killed import killed_at, using
from tests.support.factories import Project, make_project, make_token
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import start_clock, stop_clock
from tests.support.world.customer import Customer

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:10:00Z")
STATES = "SELECT name || ' ' || state FROM clusters ORDER BY name"
FORCED = "SELECT data FROM events WHERE type = 'cluster.suspend_forced' ORDER BY transaction, id"
SUSPENDS = "SELECT count(*) FROM operations WHERE kind = 'cluster.suspend'"


@dataclass
class Watched:
    """A world in which a worker evaluates budgets and funds whenever the clock is moved; minutes after NOW."""

    world: World
    set_clock: Callable[[datetime], None]

    async def after(self, minutes: float) -> int:
        """How many clusters three workers at once suspend then."""
        self.set_clock(NOW + timedelta(minutes=minutes))
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
def watched(world: World, set_clock: Callable[[datetime], None]) -> Watched:
    set_clock(NOW)
    return Watched(world, set_clock)


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

    async def prepare(db: Database) -> None:
        watched = Watched(await World.seeded(db), partial(stop_clock, database.owner_url))
        watched.set_clock(NOW)
        await watched.budget("1", 100)
        for name in ("bert", "ernie"):
            await watched.cluster(name)
        watched.set_clock(NOW + timedelta(hours=1))
        await evaluate_budgets(db)

    using(database, prepare)
    assert killed_at(database, "begin.interval_closed", 2, stop)
    assert using(database, lambda db: suspend_unpaid(db, Settings())) == 1
    assert using(database, lambda db: World(db).column(SUSPENDS)) == [2]
    assert using(database, lambda db: World(db).column(STATES)) == ["bert suspending", "ernie suspending"]
    start_clock(database.owner_url)


COST = "SELECT token_cost(project_id, id) FROM tokens WHERE cost_limit IS NOT NULL"


@dataclass
class Assistant(Watched):
    """Somebody with a token that has a cost limit."""

    token: UUID

    @property
    def customer(self) -> Customer:
        actor = replace(self.world.project.actor, token_id=self.token)
        return Customer(self.world.database, lambda: actor, self.world.settings, self.world.catalogue)


@pytest.fixture
async def assistant(world: World, set_clock: Callable[[datetime], None]) -> Assistant:
    """Its limit is 7 EUR; a cluster is 3.75 an hour."""
    async with world.database.begin() as connection:
        token = await make_token(connection, world.project.id, Role.OPERATOR)
        limit = {"cost_limit": 7, "cost_currency": "EUR"}
        await connection.execute(sa.update(tokens).where(tokens.c.id == token.id).values(limit))
    set_clock(NOW)
    return Assistant(world, set_clock, token.id)


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
    bert = (await assistant.customer.create("bert")).target_id
    await world.finish_create(bert)
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
    bert = await world.make_active("bert")
    await assistant.after(60)
    assert await world.column(COST) == [0]
    await assistant.customer.update(bert, expires_at=NOW + timedelta(days=2))
    await assistant.after(70)
    assert await world.column(COST) == [Decimal("0.625")]
    assert await assistant.after(60 + 112) == 1
