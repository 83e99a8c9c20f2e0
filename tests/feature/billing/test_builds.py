"""Billing from the request: what a build costs is seen as it goes on, and is nothing if the cluster is never ready."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.budgets.store import NewBudget, Owner, create
from ipucloud.billing.prepaid.funds import facts_of
from ipucloud.billing.pricing.usage import cluster_usage
from ipucloud.clusters.builds import end_late_builds
from ipucloud.identity.roles import Role
from ipucloud.identity.tables import tokens
from ipucloud.inventory.health.codes import Code
from ipucloud.kernel.money import Money
from ipucloud.policies.waiting import serve_waiting
from tests.support.catalogues import billed_from_the_request
from tests.support.factories import make_token
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import stop_clock
from tests.support.world.customer import Customer

pytestmark = pytest.mark.anyio

INTERVALS = """
SELECT to_char(started_at, 'HH24:MI') || '-' || coalesce(to_char(ended_at, 'HH24:MI'), '') || ' ' || quantity - credited
  FROM usage_intervals WHERE ended_at IS DISTINCT FROM started_at ORDER BY started_at
"""
POSTED = "SELECT coalesce(sum(cost), 0) FROM usage_charges"

Shows = Callable[[str], None]


@pytest.fixture
def shows(database: Scratch) -> Shows:
    """Sets the clock, to an hour and minute of one day."""
    return lambda time: stop_clock(
        database.owner_url, datetime.fromisoformat(f"2026-03-02T{time}:00").replace(tzinfo=UTC)
    )


@pytest.fixture(autouse=True)
def from_the_request(world: World, shows: Shows) -> None:
    """No worker makes progress here, and times are long ago."""
    world.catalogue = billed_from_the_request(world.catalogue)
    world.broken_on_purpose.update({"operation_ends_in_time", "operation_makes_progress", "hour_is_closed_in_time"})
    shows("10:00")


async def begun(world: World) -> UUID:
    """A cluster of four machines, 0.25 EUR a minute, asked for at 10:00."""
    return (await world.create(flavor="m2000-pod16")).target_id


async def cost(world: World, cluster: UUID) -> Decimal:
    async with world.database.read() as connection:
        usage = await cluster_usage(connection, project_id=world.project.id, cluster_id=cluster)
    assert usage.cost is not None
    return usage.cost.amount


async def test_minutes_count_from_the_request_on_wherever_money_is_counted(world: World, shows: Shows) -> None:
    """Usage, a budget, the funds of who pays, and the cost limit of the token that asked."""
    async with world.database.begin() as connection:
        budget = NewBudget("march", Money.of(100, "EUR"), None, [])
        await create(connection, Owner("project", world.project.id), budget, None)
        token = await make_token(connection, world.project.id, Role.OPERATOR)
        limit = {"cost_limit": 100, "cost_currency": "EUR"}
        await connection.execute(sa.update(tokens).where(tokens.c.id == token.id).values(limit))
    asker = replace(world.project.actor, token_id=token.id)
    customer = Customer(world.database, lambda: asker, world.settings, world.catalogue)
    cluster = (await customer.create(flavor="m2000-pod16")).target_id
    for time, spent in (("10:00", "0"), ("10:01", "0.25"), ("10:10", "2.50")):
        shows(time)
        await keep_books(world.database)
        assert await cost(world, cluster) == Decimal(spent)
        assert await world.value("SELECT actual FROM budgets") == Decimal(spent)
        assert await world.value("SELECT token_cost(project_id, id) FROM tokens WHERE cost_limit > 0") == Decimal(spent)
        async with world.database.read() as connection:
            facts = await facts_of(connection, world.project.id, currency="EUR")
        assert facts.standing.used == Decimal(spent)
    await world.finish_create(cluster)
    shows("10:20")
    assert await cost(world, cluster) == 5
    assert await world.column(INTERVALS) == ["10:00- 4"]


@pytest.mark.parametrize("ended", [World.fail_create, World.delete])
async def test_what_is_never_ready_costs_nothing_even_if_its_hour_is_closed(
    world: World, shows: Shows, ended: Callable[[World, UUID], Awaitable[object]]
) -> None:
    cluster = await begun(world)
    shows("11:20")
    await keep_books(world.database)
    assert await world.value(POSTED) > 0
    await ended(world, cluster)
    assert await world.column(INTERVALS) == []
    shows("12:20")
    await keep_books(world.database)
    assert await world.value(POSTED) == 0
    assert await cost(world, cluster) == 0


async def test_a_build_is_billed_for_no_longer_than_announced(world: World, shows: Shows) -> None:
    """Fifteen minutes; also if a fault was seen in between."""
    cluster = await begun(world)
    assert (await world.cluster(cluster))["state_sla_seconds"] == 900
    shows("10:40")
    await end_late_builds(world.database)
    assert await world.column(INTERVALS) == ["10:00-10:15 4"]
    await world.finish_create(cluster)
    assert await world.column(INTERVALS) == ["10:00-10:15 4", "10:40- 4"]
    shows("10:41")
    assert await cost(world, cluster) == 4


async def test_a_create_succeeds_whatever_the_clock_shows_after_its_build_was_late(world: World, shows: Shows) -> None:
    cluster = await begun(world)
    shows("10:40")
    await end_late_builds(world.database)
    shows("10:10")
    await world.finish_create(cluster)
    assert await world.column(INTERVALS) == ["10:00-10:15 4", "10:15- 4"]


@pytest.mark.parametrize("late", [False, True])
async def test_machines_that_do_not_work_while_a_cluster_is_built_are_credited(
    world: World, shows: Shows, late: bool
) -> None:
    cluster = await begun(world)
    shows("10:05")
    report = await world.fail(cluster, Code.BMC_CRITICAL)
    shows("10:08")
    await world.work_again(cluster, report)
    shows("10:40" if late else "10:14")
    await world.finish_create(cluster)
    parts = ["10:00-10:05 4", "10:05-10:08 3"]
    assert await world.column(INTERVALS) == parts + (["10:08-10:15 4", "10:40- 4"] if late else ["10:08- 4"])


async def test_a_cluster_that_waited_is_billed_from_when_it_got_its_machines(world: World, shows: Shows) -> None:
    others = [await world.create(f"other-{number}", "m2000-pod16") for number in range(4)]
    waiting = await world.create("waits", "m2000-pod16", wait_for_capacity=True)
    assert len(await world.column(INTERVALS)) == len(others)
    await world.fail_create(others[0].target_id)
    shows("10:30")
    await serve_waiting(world.settings, world.database)
    assert await world.column(INTERVALS) == ["10:00- 4"] * 3 + ["10:30- 4"]
    assert await cost(world, waiting.target_id) == 0
