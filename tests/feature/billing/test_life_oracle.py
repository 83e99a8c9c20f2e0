"""A reservation is billed whether it is used or not, its clusters are not billed beside it, and preemptible ones at
their own price until they are suspended: random lives against a count of minutes, with workers that come late."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import psycopg

from ipucloud.clusters.operations.waiting import MayWait
from ipucloud.clusters.reservations.store import reserve
from ipucloud.contract.capacity import ReservationCreate
from ipucloud.db.engine import Database
from ipucloud.inventory.release import free, release
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, OPERATION_IN_PROGRESS, STATE_CONFLICT, Problem
from ipucloud.policies.preemption import follow_preemptions
from ipucloud.policies.reservations import follow_reservations
from ipucloud.policies.waiting import serve_waiting
from tests.feature.billing.lives import BLOCK, SKUS, SPAN, Kind, Observation, Plan, Script, counted, script_of
from tests.feature.billing.timelines import MINUTE, SECOND
from tests.feature.billing.world import REGION, BillingWorld
from tests.support.factories import LONG_AGO
from tests.support.postgres import Database as Scratch
from tests.support.postgres import TestServer
from tests.support.world import World

EXAMPLES = int(os.environ.get("BILLING_EXAMPLES", "8"))
FIRST = int(os.environ.get("BILLING_FIRST", "0"))
"""Each has a reservation and three to eight clusters."""

WAITS = MayWait(for_capacity=True)
EXPECTED = frozenset({CAPACITY_EXHAUSTED, OPERATION_IN_PROGRESS, STATE_CONFLICT})
_POSTED = """
SELECT resource_id, sku, billing_month, sum(minutes), sum(cost) FROM usage_charges
 GROUP BY resource_id, sku, billing_month HAVING sum(minutes) <> 0 OR sum(cost) <> 0
"""
_WAITING = """
SELECT count(*) FROM capacity_waits w JOIN operations o ON o.id = w.operation_id
 WHERE w.cluster_id = :id AND w.granted_at IS NULL AND o.finished_at IS NULL
"""
_PREEMPTED = "SELECT count(*) FROM preemptions WHERE outcome = 'suspended'"


class Life:
    """One script, played by the product's own requests and tasks; no worker builds anything."""

    def __init__(self, billing: BillingWorld, script: Script) -> None:
        self.billing, self.script = billing, script
        self.observations = [Observation(plan) for plan in script.plans]
        self.clusters: list[UUID | None] = [None for _ in script.plans]
        self.reservation: UUID

    async def play(self) -> None:
        script = self.script
        turns = [(second, place, way) for place, plan in enumerate(script.plans) for second, way in plan.turns]
        seconds = sorted({*script.looks, *script.closes, *(second for second, _, _ in turns), SPAN})
        self.at(0)
        await self.reserve()
        for second in seconds:
            self.at(second)
            if second in script.looks or second == SPAN:
                await self.look()
            for due, place, way in turns:
                if due == second:
                    await self.go_on(place, way)
            if second in script.closes:
                await self.billing.keep()
            await self.observe(second)
        await self.billing.keep(script.base + timedelta(seconds=SPAN, hours=2))

    def at(self, second: int) -> None:
        self.billing.now(self.script.base + second * SECOND)

    async def reserve(self) -> None:
        script, billing = self.script, self.billing
        starts_at = script.base + script.starts * MINUTE
        body = ReservationCreate(
            name="may",
            region=REGION,
            flavor=BLOCK,
            count=script.blocks,
            starts_at=starts_at,
            ends_at=starts_at + script.minutes * MINUTE,
        )
        actor = billing.project.actor
        async with billing.database.begin() as connection:
            self.reservation = await reserve(
                connection, actor, body, catalogue=billing.catalogue, settings=billing.settings
            )

    async def look(self) -> None:
        """What workers do every few seconds."""
        await follow_reservations(self.billing.database)
        await serve_waiting(self.billing.settings, self.billing.database)
        await follow_preemptions(self.billing.settings, self.billing.database)

    async def go_on(self, place: int, way: int) -> None:
        plan, cluster = self.script.plans[place], self.clusters[place]
        try:
            if cluster is None:
                self.clusters[place] = await self.create(f"c{place}", plan)
            else:
                await self.change(cluster, plan, way)
        except Problem as problem:
            if problem.kind not in EXPECTED:
                raise

    async def create(self, name: str, plan: Plan) -> UUID:
        wishes: dict[Kind, dict[str, object]] = {
            "reserved": {"reservation": self.reservation},
            "preemptible": {"preemptible": True},
            "ordinary": {"wait_for_capacity": True},
        }
        return (await self.billing.create(name, plan.flavor, **wishes[plan.kind])).target_id

    async def change(self, cluster: UUID, plan: Plan, way: int) -> None:
        """A request, or the end of what goes on."""
        billing = self.billing
        state = await billing.value("SELECT state FROM clusters WHERE id = :id", id=cluster)
        if await billing.value(_WAITING, id=cluster):
            if way == 0:
                await billing.delete(cluster)
        elif state in {"creating", "resuming"}:
            await billing.finish_create(cluster)
        elif state == "active" and way < 3:
            await (billing.delete(cluster) if way == 0 else billing.suspend(cluster))
        elif state == "suspended":
            await (billing.delete(cluster) if way == 0 else self.resume(cluster, plan))
        elif state in {"suspending", "deleting"}:
            await self.leave(cluster, state)

    async def resume(self, cluster: UUID, plan: Plan) -> None:
        if plan.kind == "ordinary":
            await self.billing.resume(cluster, may_wait=WAITS)
        else:
            await self.billing.resume(cluster)

    async def leave(self, cluster: UUID, state: str) -> None:
        """The machines return to where they came from, as when a worker has observed them clean."""
        project = self.billing.project.id
        async with self.billing.database.begin() as connection:
            hosts: list[UUID] | None = None if state == "deleting" else []
            await release(connection, project_id=project, cluster_id=cluster, hosts=hosts)
            await free(connection, project_id=project, cluster_id=cluster, validated=False)
        await (self.billing.finish_delete if state == "deleting" else self.billing.finish_suspend)(cluster)

    async def observe(self, second: int) -> None:
        shown = dict(await self.billing.rows("SELECT id, state FROM clusters"))
        for cluster, observation in zip(self.clusters, self.observations, strict=True):
            if cluster is not None:
                observation.saw(second, shown[cluster])


async def example(scratch: Scratch, seed: int, met: Counter[str]) -> None:
    script, database = script_of(seed), Database(scratch.app_url, pool_size=2)
    try:
        world = await World.seeded(database)
        billing = BillingWorld(database, scratch.owner_url, world.project)
        await _prices(scratch, billing, script)
        # How much is used is not counted here: what no worker does leaves it as it is.
        await billing.execute("UPDATE quotas SET machine_limit = 10000, used = 5000")
        life = Life(billing, script)
        await life.play()
        things = {cluster: place for place, cluster in enumerate([*life.clusters, life.reservation])}
        bills = {
            (things[thing], sku, month): (minutes, cost)
            for thing, sku, month, minutes, cost in await billing.rows(_POSTED)
        }
        balance = await billing.value(
            "SELECT coalesce(sum(debits - credits), 0) FROM ledger_accounts WHERE code = 'unbilled'"
        )
        met["preempted"] += await billing.value(_PREEMPTED)
    finally:
        await database.close()
    closed = (script.base + timedelta(seconds=SPAN, hours=2) - MINUTE).replace(minute=0, second=0)
    expected = dict(counted(script, life.observations, closed))
    for place, sku, _ in expected:
        met["reservations" if place == len(life.observations) else sku] += 1
    assert bills == expected, f"BILLING_FIRST={seed} BILLING_EXAMPLES=1"
    assert balance == sum((cost for _, cost in expected.values()), start=Decimal(0))


async def _prices(scratch: Scratch, billing: BillingWorld, script: Script) -> None:
    with psycopg.connect(scratch.superuser_url) as connection:
        connection.execute("SET session_replication_role = replica")  # prices that have begun stay, else
        connection.execute("DELETE FROM prices WHERE sku = ANY (%s)", [list(SKUS)])
    for sku, versions in script.prices.items():
        for version in versions:
            valid_from = LONG_AGO if version.start < 0 else script.base + version.start * SECOND
            valid_to = None if version.end is None else script.base + version.end * SECOND
            await billing.price(version.price, valid_from, valid_to, sku=sku)


def test_billing_agrees_with_what_customers_saw(postgres: TestServer, figures: Callable[..., None]) -> None:
    met: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + EXAMPLES):
        with postgres.fresh_database() as scratch:
            asyncio.run(example(scratch, seed, met))
    figures(examples=EXAMPLES, **met)
    assert met["preempted"], "no cluster was preempted"
