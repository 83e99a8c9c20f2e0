"""Preemptible clusters: who is told and suspended for whom, what is taken back, and what they never do."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.prepaid.funds import set_prepaid
from ipucloud.clusters.operations.waiting import MayWait
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money
from ipucloud.policies.preemption import follow_preemptions
from ipucloud.policies.waiting import serve_waiting
from tests.feature.billing.test_killed import killed_at, using
from tests.feature.clusters.test_create import refused
from tests.support.postgres import Database as Scratch
from tests.support.preemptible import PREEMPTIBLE, offer_preemptible
from tests.support.world import World
from tests.support.world.clock import stop_clock

pytestmark = pytest.mark.anyio

BEGAN = datetime(2026, 5, 4, 6, 0, tzinfo=UTC)
EVENTS = """
SELECT concat_ws(' ', replace(type, 'cluster.', ''), data ->> 'outcome') FROM events
 WHERE starts_with(type, 'cluster.preempt') ORDER BY transaction, id
"""
HOLDERS = "SELECT DISTINCT cluster_id FROM allocations WHERE machine_id IS NOT NULL AND freed_at IS NULL"


@dataclass
class Region:
    """A region of sixteen machines, whose queue and notices three workers follow whenever the clock is moved."""

    world: World
    scratch: Scratch

    async def at(self, minutes: float) -> None:
        stop_clock(self.scratch.owner_url, BEGAN + timedelta(minutes=minutes))
        await serve_waiting(self.world.settings, self.world.database)
        await asyncio.gather(*(follow_preemptions(self.world.settings, self.world.database) for _ in range(3)))

    async def preemptible(self, name: str, flavor: str = "m2000-pod16", **changes: object) -> UUID:
        return await self.world.make_active(name, flavor, preemptible=True, **changes)

    async def wait(self, name: str, flavor: str = "m2000-pod16", **changes: object) -> UUID:
        return (await self.world.create(name, flavor, wait_for_capacity=True, **changes)).target_id

    async def stopped(self, cluster: UUID) -> None:
        """What a worker writes when a suspension has succeeded."""
        assert await self.world.state(cluster) == "suspending"
        await self.world.finish_suspend(cluster)

    async def preempt_at(self, cluster: UUID) -> str | None:
        instant: str | None = (await self.world.cluster(cluster))["preempt_at"]
        return instant

    async def notified(self) -> list[str]:
        return await self.world.column(EVENTS)


@pytest.fixture
async def region(world: World, database: Scratch) -> Region:
    async with world.database.begin() as connection:
        await offer_preemptible(connection)
    stop_clock(database.owner_url, BEGAN)
    return Region(world, database)


async def test_it_costs_its_own_price_and_the_estimate_says_so(region: Region) -> None:
    ordinary = await region.world.estimate("bert", "m2000-pod16")
    estimated = await region.world.estimate("bert", "m2000-pod16", preemptible=True)
    assert estimated.price_per_minute.amount == Decimal("0.02") * 4 < ordinary.price_per_minute.amount
    cluster = await region.world.cluster(await region.preemptible("bert"))
    assert (cluster["preemptible"], cluster["preempt_at"]) == (True, None)
    assert Decimal(cluster["price_per_minute"]["amount"]) == estimated.price_per_minute.amount
    assert await region.world.column("SELECT sku FROM usage_intervals") == [PREEMPTIBLE]
    other = await region.world.cluster(await region.world.make_active("ernie"))
    assert other["preemptible"] is False


async def test_without_a_price_it_is_not_offered(world: World) -> None:
    with pytest.raises(Problem) as raised:
        await world.create("bert", preemptible=True)
    [error] = raised.value.errors
    assert (error.pointer, error.code) == ("/preemptible", "not_offered")
    assert "no price of ipu-m2000-preemptible in EUR" in error.detail
    assert await world.value("SELECT count(*) FROM clusters") == 0
    with pytest.raises(Problem, match="validation_failed"):
        await world.estimate("bert", preemptible=True)


async def test_neither_of_a_reservation_nor_of_a_server_with_ipus(region: Region) -> None:
    reservation = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b81"
    problem = await refused(region.world, name="bert", preemptible=True, reservation=reservation)
    assert [(each.pointer, each.code) for each in problem.errors] == [("/preemptible", "reserved")]
    own = await refused(region.world, name="bert", flavor="c600-1", preemptible=True)
    assert [(each.pointer, each.code) for each in own.errors] == [("/preemptible", "not_offered")]


async def test_for_one_that_waits_it_is_told_and_suspended_when_its_time_has_come(region: Region) -> None:
    bert = await region.preemptible("bert", "m2000-pod64")
    await region.at(1)
    assert await region.notified() == []
    ernie = await region.wait("ernie")
    await region.at(2)
    assert await region.preempt_at(bert) == "2026-05-04T06:12:00.000000Z"
    version = (await region.world.cluster(bert))["version"]
    await region.at(11)
    assert ((await region.world.cluster(bert))["version"], await region.world.state(bert)) == (version, "active")
    await region.at(12)
    cluster = await region.world.cluster(bert)
    assert (cluster["state"], cluster["preempt_at"]) == ("suspending", None)
    assert "preempted" in cluster["state_reason"]
    assert cluster["operation"]["kind"] == "cluster.suspend"
    assert await region.notified() == ["preemption_scheduled", "preempted"]
    assert await region.world.value("SELECT requested_by FROM operations WHERE kind = 'cluster.suspend'") is None
    await region.at(13)
    await region.stopped(bert)
    await region.at(14)
    assert set(await region.world.column(HOLDERS)) == {ernie}
    cluster = await region.world.cluster(bert)
    assert (cluster["state"], cluster["billing"]["minutes"]) == ("suspended", 12)
    assert "preempted" in cluster["state_reason"]


@pytest.mark.parametrize("kind", ["resume", "resize"])
async def test_a_resume_or_resize_that_waits_makes_room_too(region: Region, kind: str) -> None:
    world, waits = region.world, MayWait(for_capacity=True)
    own = await (world.make_suspended if kind == "resume" else world.make_active)("mine", "m2000-pod16")
    if kind == "resume":
        await region.preemptible("other", "m2000-pod32")
    for name in ("a", "b") if kind == "resume" else ("a", "b", "c"):
        await region.preemptible(name)
    await (world.resume(own, may_wait=waits) if kind == "resume" else world.resize(own, "m2000-pod32", may_wait=waits))
    await region.at(1)
    [victim] = await world.column("SELECT cluster_id FROM preemptions")
    assert await world.value("SELECT flavor FROM clusters WHERE id = :id", id=victim) == "m2000-pod16"
    await region.at(10)
    assert await region.world.state(victim) == "active"
    await region.at(11)
    await region.stopped(victim)
    await region.at(12)
    assert await region.world.state(own) == {"resume": "resuming", "resize": "resizing"}[kind]
    assert await region.notified() == ["preemption_scheduled", "preempted"]


async def test_it_can_be_resumed_as_preemptible_when_there_is_room(region: Region) -> None:
    bert = await region.world.make_suspended("bert", "m2000-pod16", preemptible=True)
    await region.world.resume(bert)
    await region.world.finish_create(bert)
    assert (await region.world.cluster(bert))["preemptible"] is True
    assert await region.world.column("SELECT DISTINCT sku FROM usage_intervals") == [PREEMPTIBLE]
    await region.world.resize(bert, "m2000-pod4")
    assert await region.world.column("SELECT to_sku FROM resizes") == [PREEMPTIBLE]


async def test_free_machines_and_those_that_become_free_are_used_first(region: Region) -> None:
    await region.preemptible("bert", "m2000-pod32")
    ends = await region.world.make_active("ends", "m2000-pod16")
    await region.world.make_active("stays", "m2000-pod16")
    ernie = await region.wait("ernie")
    await region.world.delete(ends)
    await region.at(1)
    assert await region.notified() == []
    await region.world.finish_delete(ends)
    await region.at(2)
    assert ernie in await region.world.column(HOLDERS)
    assert await region.notified() == []


async def test_the_fewest_are_told_and_nobody_for_a_preemptible_one(region: Region) -> None:
    large = await region.preemptible("large", "m2000-pod32")
    small = await region.preemptible("small", "m2000-pod16")
    await region.world.make_active("ordinary", "m2000-pod16")
    await region.wait("waits", "m2000-pod16", preemptible=True)
    await region.at(1)
    assert await region.notified() == []
    await region.wait("ernie", "m2000-pod16")
    await region.at(2)
    assert (await region.preempt_at(large), await region.preempt_at(small)) == (None, "2026-05-04T06:12:00.000000Z")


async def test_an_ordinary_one_goes_ahead_of_preemptible_ones_that_wait(region: Region) -> None:
    full = await region.world.make_active("full", "m2000-pod64")
    first = await region.wait("first", "m2000-pod64", preemptible=True)
    second = await region.wait("second", "m2000-pod16")
    assert (await region.world.cluster(second))["waiting"]["place"] == 1
    assert (await region.world.cluster(first))["waiting"]["place"] == 2
    await region.world.delete(full)
    await region.world.finish_delete(full)
    await region.at(1)
    assert set(await region.world.column(HOLDERS)) == {second}
    assert (await region.world.create("third", "m2000-pod16")).target_id in await region.world.column(HOLDERS)
    with pytest.raises(Problem, match="capacity_exhausted"):
        await region.world.create("fourth", "m2000-pod16", preemptible=True)


@pytest.mark.parametrize("way", ["cancelled", "room", "expired"])
async def test_a_notice_is_withdrawn_when_nobody_needs_the_machines(region: Region, way: str) -> None:
    bert = await region.preemptible("bert", "m2000-pod32")
    ends = await region.world.make_active("ends", "m2000-pod32")
    waits = await region.world.create(
        "ernie", "m2000-pod32", wait_for_capacity=True, wait_until=BEGAN + timedelta(minutes=30)
    )
    await region.at(1)
    assert await region.notified() == ["preemption_scheduled"]
    region.world.broken_on_purpose.add("operation_makes_progress")  # no worker deletes
    if way == "cancelled":
        await region.world.cancel(waits)
    elif way == "room":
        await region.world.delete(ends)
    else:
        await region.world.execute("UPDATE capacity_waits SET until = since + interval '2 minutes'")
    await region.at(5)
    assert (await region.preempt_at(bert), await region.world.state(bert)) == (None, "active")
    assert await region.notified() == ["preemption_scheduled", "preemption_withdrawn not_needed"]
    await region.at(20)
    assert await region.world.state(bert) == "active"


async def told(region: Region) -> UUID:
    """A cluster that is to be suspended for another."""
    bert = await region.preemptible("bert", "m2000-pod64")
    await region.wait("ernie")
    await region.at(1)
    return bert


async def test_a_notice_ends_with_the_use_of_the_cluster(region: Region) -> None:
    bert = await told(region)
    await region.world.delete(bert)
    await region.at(2)
    assert await region.notified() == ["preemption_scheduled", "preemption_withdrawn not_in_use"]


async def test_all_that_are_needed_stop_together_or_none_does(region: Region) -> None:
    halves = [await region.preemptible(name, "m2000-pod16") for name in ("h1", "h2", "h3")]
    await region.world.make_active("ordinary", "m2000-pod16")
    await region.wait("ernie", "m2000-pod32")
    await region.at(1)
    noticed = [each for each in halves if await region.preempt_at(each)]
    assert len(noticed) == 2
    await region.at(11)
    assert [await region.world.state(each) for each in noticed] == ["suspending"] * 2
    for each in noticed:
        await region.stopped(each)
    await region.at(12)
    assert await region.world.value("SELECT count(*) FROM preemptions") == 2
    assert await region.world.value("SELECT count(*) FROM capacity_waits WHERE granted_at IS NOT NULL") == 1


async def test_without_a_victim_that_would_do_nobody_is_told(region: Region) -> None:
    """Two blocks that are no neighbours of each other make no larger one; nor does a wait that would end before."""
    for number, name in enumerate(("p1", "o1", "p2", "o2")):
        await region.world.make_active(name, "m2000-pod16", preemptible=number % 2 == 0)
    waits = await region.world.create("large", "m2000-pod32", wait_for_capacity=True)
    await region.at(1)
    assert await region.notified() == []
    await region.world.cancel(waits)
    await region.wait("soon", wait_until=BEGAN + timedelta(minutes=9))
    await region.at(2)
    assert await region.notified() == []


async def test_who_lacks_something_else_begins_nothing(region: Region) -> None:
    await region.preemptible("bert", "m2000-pod64")
    await region.wait("ernie")
    await region.world.execute(
        "UPDATE quotas SET machine_limit = used WHERE project_id = :id", id=region.world.project.id
    )
    await region.at(1)
    assert await region.notified() == []


async def test_nobody_is_told_for_an_account_without_funds(region: Region) -> None:
    await region.preemptible("bert", "m2000-pod64")
    await region.wait("ernie")
    async with region.world.database.begin() as connection:
        await set_prepaid(connection, region.world.project.id, currency="EUR", when_empty="refuse_creates")
    await region.at(1)
    assert await region.notified() == []
    assert await region.world.value("SELECT count(*) FROM create_holds") == 0
    async with region.world.database.begin() as connection:
        amount = Money.of(Decimal(1000), "EUR")
        await record_payment(connection, region.world.project.id, amount, reference="top-up", invoice=None)
    await region.at(2)
    assert await region.notified() == ["preemption_scheduled"]
    assert await region.world.value("SELECT count(*) FROM create_holds") == 0


async def test_an_operation_is_waited_for_and_does_not_rid_a_cluster_of_its_notice(region: Region) -> None:
    bert = await told(region)
    region.world.broken_on_purpose.add("operation_makes_progress")  # no worker reboots
    await region.world.restart(bert)
    await region.at(12)
    assert (await region.world.state(bert), await region.preempt_at(bert)) == ("active", "2026-05-04T06:11:00.000000Z")
    assert await region.notified() == ["preemption_scheduled"]


async def test_a_refusal_says_that_room_can_be_made_and_begins_nothing(region: Region) -> None:
    await region.preemptible("bert", "m2000-pod64")
    problem = await refused(region.world, name="ernie", flavor="m2000-pod16")
    assert (problem.kind.code, problem.extra["preemption_minutes"]) == ("capacity_exhausted", 10)
    assert "`wait_for_capacity`, and they are told to make room in 10 minutes" in (problem.detail or "")
    estimated = await region.world.estimate("ernie", "m2000-pod16")
    assert (estimated.capacity.available, estimated.capacity.preemption_minutes) == (False, 10)
    again = await refused(region.world, name="ernie", flavor="m2000-pod16", preemptible=True)
    assert "preemption_minutes" not in again.extra
    await region.at(1)
    assert await region.notified() == []


@pytest.mark.parametrize("point", ["preemption.noticed", "preemption.begun", "preemption.withdrawn"])
def test_a_worker_killed_on_the_way_leaves_all_of_a_change_or_nothing(database: Scratch, point: str) -> None:
    async def follow(database: Database) -> None:
        await follow_preemptions(Settings(), database)

    async def prepare(db: Database) -> list[str]:
        world = await World.seeded(db)
        async with db.begin() as connection:
            await offer_preemptible(connection)
        await world.make_active("bert", "m2000-pod64", preemptible=True)
        waits = await world.create("ernie", "m2000-pod16", wait_for_capacity=True)
        await serve_waiting(world.settings, db)
        if point != "preemption.noticed":
            await follow(db)
        if point == "preemption.begun":
            await world.execute("UPDATE preemptions SET noticed_at = app_now() - interval '1 hour'")
            await world.execute("UPDATE preemptions SET preempt_at = app_now() - interval '1 second'")
        if point == "preemption.withdrawn":
            await world.cancel(waits)
        return await world.column(EVENTS)

    async def finish(db: Database) -> list[str]:
        await follow(db)
        return await World(db).column(EVENTS)

    before = using(database, prepare)
    assert killed_at(database, point, 1, follow)
    after = using(database, finish)
    assert after[: len(before)] == before
    assert len(after) == len(before) + 1
