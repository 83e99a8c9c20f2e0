"""Creates in a large region against creates in a small one; and many requests at once for its last machines."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import psycopg
import sqlalchemy as sa

from bench.databases import opened
from bench.finding import Finding, at_least, at_most
from bench.stage import Stage
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, Problem
from tests.support.factories import AMSTERDAM, LUXEMBOURG, make_project, seed_prices, seed_region
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE
from tests.support.world import World
from tests.support.world.customer import Customer

SMALL, LARGE = LUXEMBOURG[0], AMSTERDAM[0]
FLAVOR = {SMALL: "m2000-pod4", LARGE: "bow-pod4"}
SMALL_PODS, PER_POD = 2, 16
CONNECTIONS = 20
"""Of all contenders together, as of four API processes."""


@dataclass(frozen=True, slots=True)
class Size:
    """`pods`: of the large region. `creates`: by each turn of one caller. `seconds`: of the turn of many."""

    pods: int = 1024
    creates: int = 60
    callers: int = 8
    seconds: float = 4.0
    contenders: int = 200
    last: int = 16

    def machines(self, region: str) -> str:
        return f"{PER_POD * (SMALL_PODS if region == SMALL else self.pods):,} machines"


SMALLEST = Size(pods=4, creates=2, callers=2, seconds=0.1, contenders=4, last=2)

# Half of the machines are held, in blocks of all sizes, scattered by a hash.
_HALF = """
INSERT INTO allocations (id, project_id, cluster_id, machine_id, ordinal)
SELECT gen_random_uuid(), :project_id, :cluster_id, machines.id, row_number() OVER () + 1000
  FROM machines JOIN pods ON pods.id = pod_id
 WHERE hashtext(region || gw_group || position || '/'
                || slot / CASE abs(hashtext(pods.name)) % 4 WHEN 0 THEN 16 WHEN 1 THEN 16 WHEN 2 THEN 4 ELSE 1 END) > 0
   AND NOT EXISTS (SELECT FROM allocations WHERE machine_id = machines.id AND freed_at IS NULL)
"""
_ALL_BUT = """
INSERT INTO allocations (id, project_id, cluster_id, machine_id, ordinal)
SELECT gen_random_uuid(), :project_id, :cluster_id, machines.id, row_number() OVER () + 50000
  FROM machines JOIN pods ON pods.id = pod_id
 WHERE region = :region AND NOT EXISTS (SELECT FROM allocations WHERE machine_id = machines.id AND freed_at IS NULL)
 ORDER BY md5(machines.name) OFFSET :spared
"""
_RETURN = (
    "UPDATE allocations SET released_at = app_now(), freed_at = app_now() WHERE cluster_id = :id AND freed_at IS NULL",
    "UPDATE hosts SET held = false WHERE id IN (SELECT host_id FROM allocations WHERE cluster_id = :id)",
    "SELECT settle_pods(array_agg(DISTINCT pod_id)) FROM machines JOIN allocations ON machine_id = machines.id"
    " WHERE cluster_id = :id",
)


def run(stage: Stage, size: Size) -> list[Finding]:
    with stage.database() as urls:
        return asyncio.run(_measure(urls, stage.rounds, size))


async def _measure(urls: Scratch, rounds: int, size: Size) -> list[Finding]:
    small, large = size.machines(SMALL), size.machines(LARGE)
    async with _world(urls, size) as world:
        alone: dict[str, list[float]] = {region: [] for region in FLAVOR}
        for turn in range(rounds + 1):
            for region in FLAVOR if turn % 2 else reversed(FLAVOR):
                seconds = [await _create(world, region) for _ in range(size.creates)]
                if turn:
                    alone[region].append(statistics.median(seconds) * 1e3)
        together = {region: await _together(world, region, size) for region in FLAVOR}
        refused = await _contend(world, size)
    ratios = [large_ms / small_ms for small_ms, large_ms in zip(alone[SMALL], alone[LARGE], strict=True)]
    return [
        Finding(
            f"create, one caller, p50: {large} over {small}",
            statistics.median(ratios),
            goal=at_most(1.3),
            numbers={f"{size.machines(region)} ms": statistics.median(alone[region]) for region in FLAVOR},
        ),
        Finding(
            f"creates by {size.callers} callers, {large}",
            together[LARGE],
            "/s",
            goal=at_least(60),
            numbers={f"{small} /s": together[SMALL]},
        ),
        refused,
    ]


@asynccontextmanager
async def _world(urls: Scratch, size: Size) -> AsyncIterator[World]:
    async with opened(urls.app_url, pool_size=CONNECTIONS, pool_timeout=PATIENCE, planned_once=True) as database:
        async with database.begin() as connection:
            await seed_prices(connection)
            world = World(database, await make_project(connection))
            for place, pods in ((LUXEMBOURG, SMALL_PODS), (AMSTERDAM, size.pods)):
                await seed_region(connection, *place, pod_count=pods, host_count=size.contenders, pods_per_group=16)
        await _hold(world, _HALF)
        with psycopg.connect(urls.superuser_url, autocommit=True) as superuser:
            superuser.execute("VACUUM ANALYZE")
        yield world


async def _hold(world: World, statement: str, **values: object) -> None:
    holder = await world.create(f"holder-{time.monotonic_ns()}", "m2000-pod4")
    await world.execute(statement, project_id=world.project.id, cluster_id=holder.target_id, **values)
    await world.sync_pods_and_hosts()


async def _create(world: World, region: str) -> float:
    """The seconds of a create, whose machines are returned afterwards."""
    began = time.perf_counter()
    accepted = await world.create(f"c{time.monotonic_ns()}", FLAVOR[region], region=region)
    seconds = time.perf_counter() - began
    await _give_back(world, accepted.target_id)
    return seconds


async def _give_back(world: World, cluster_id: UUID) -> None:
    async with world.database.begin() as connection:
        for statement in _RETURN:
            await connection.execute(sa.text(statement), {"id": cluster_id})


async def _together(world: World, region: str, size: Size) -> float:
    """Creates per second by callers of different projects, who return what they got before they ask again."""
    customers = await _customers(world, size.callers)
    created, began = 0, time.perf_counter()

    async def call(customer: Customer) -> None:
        nonlocal created
        while time.perf_counter() < began + size.seconds:
            accepted = await customer.create(f"c{time.monotonic_ns()}", FLAVOR[region], region=region)
            created += 1
            await _give_back(world, accepted.target_id)

    await asyncio.gather(*(call(customer) for customer in customers))
    return created / (time.perf_counter() - began)


async def _contend(world: World, size: Size) -> Finding:
    """Everybody asks for one machine at once; the last ones lie scattered over the large region."""
    await _hold(world, _ALL_BUT, region=LARGE, spared=size.last)
    customers = await _customers(world, size.contenders)
    answers, seconds = Counter[str](), []

    async def contend(customer: Customer) -> None:
        began = time.perf_counter()
        try:
            await customer.create("wanted", FLAVOR[LARGE], region=LARGE)
            answers["created"] += 1
        except Problem as problem:
            answers[problem.kind.code] += 1
        seconds.append(time.perf_counter() - began)

    await asyncio.gather(*(contend(customer) for customer in customers))
    if answers != {"created": size.last, CAPACITY_EXHAUSTED.code: size.contenders - size.last}:
        raise ValueError(f"{size.contenders} contenders for {size.last} machines got {dict(answers)}")
    percentiles = statistics.quantiles(seconds, n=100, method="inclusive")
    return Finding(
        f"{size.contenders} requests for the last {size.last} of {size.machines(LARGE)}, p99",
        percentiles[98],
        "s",
        goal=at_most(1.0),
        numbers={"p50 s": percentiles[49], **answers},
    )


async def _customers(world: World, number: int) -> list[Customer]:
    async with world.database.begin() as connection:
        return [world.customer(await make_project(connection)) for _ in range(number)]
