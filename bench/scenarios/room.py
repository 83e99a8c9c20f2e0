"""Creates in a region of 16,384 machines against creates in one of 32; and 200 requests for the last 16 machines."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import psycopg
import sqlalchemy as sa

from bench.finding import Finding, at_least, at_most
from bench.stage import Stage
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, Problem
from tests.support.factories import AMSTERDAM, LUXEMBOURG, make_project, seed_prices, seed_region
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE
from tests.support.world import World
from tests.support.world.customer import Customer

SMALL, LARGE = "32 machines", "16,384 machines"
PODS = {SMALL: 2, LARGE: 1024}
FLAVOR = {SMALL: ("m2000-pod4", LUXEMBOURG[0]), LARGE: ("bow-pod4", AMSTERDAM[0])}
CREATES = 60
"""By each turn of one caller."""
CALLERS = 8
SECONDS = 4.0
CONTENDERS = 200
LAST = 16
CONNECTIONS = 20
"""Of all contenders together, as of four API processes."""

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


def run(stage: Stage) -> list[Finding]:
    with stage.database("bench_room") as urls:
        return asyncio.run(_measure(urls, stage.rounds))


async def _measure(urls: Scratch, rounds: int) -> list[Finding]:
    async with _world(urls) as world:
        alone: dict[str, list[float]] = {size: [] for size in PODS}
        for turn in range(rounds + 1):
            for size in PODS if turn % 2 else reversed(PODS):
                seconds = [await _create(world, size) for _ in range(CREATES)]
                if turn:
                    alone[size].append(statistics.median(seconds) * 1e3)
        together = {size: await _together(world, size) for size in PODS}
        refused = await _contend(world)
    ratios = [large / small for small, large in zip(alone[SMALL], alone[LARGE], strict=True)]
    return [
        Finding(
            f"create, one caller, p50: {LARGE} over {SMALL}",
            statistics.median(ratios),
            goal=at_most(1.3),
            numbers={f"{size} ms": statistics.median(alone[size]) for size in PODS},
        ),
        Finding(
            f"creates by {CALLERS} callers, {LARGE}",
            together[LARGE],
            "/s",
            goal=at_least(60),
            numbers={f"{SMALL} /s": together[SMALL]},
        ),
        refused,
    ]


@asynccontextmanager
async def _world(urls: Scratch) -> AsyncIterator[World]:
    database = Database(urls.app_url, pool_size=CONNECTIONS, pool_timeout=PATIENCE, planned_once=True)  # as the API's
    async with database.begin() as connection:
        await seed_prices(connection)
        world = World(database, await make_project(connection))
        for size, (region, machine_type) in {SMALL: LUXEMBOURG, LARGE: AMSTERDAM}.items():
            await seed_region(
                connection,
                region,
                machine_type,
                pod_count=PODS[size],
                host_count=CONTENDERS,
                pods_per_group=16,
            )
    await _hold(world, _HALF)
    with psycopg.connect(urls.superuser_url, autocommit=True) as superuser:
        superuser.execute("VACUUM ANALYZE")
    yield world
    await database.close()


async def _hold(world: World, statement: str, **values: object) -> None:
    holder = await world.create(f"holder-{time.monotonic_ns()}", "m2000-pod4")
    await world.execute(statement, project_id=world.project.id, cluster_id=holder.target_id, **values)
    await world.settle()


async def _create(world: World, size: str) -> float:
    """The seconds of a create, whose machines are returned afterwards."""
    flavor, region = FLAVOR[size]
    began = time.perf_counter()
    accepted = await world.create(f"c{time.monotonic_ns()}", flavor, region=region)
    seconds = time.perf_counter() - began
    await _give_back(world, accepted.target_id)
    return seconds


async def _give_back(world: World, cluster_id: UUID) -> None:
    async with world.database.begin() as connection:
        for statement in _RETURN:
            await connection.execute(sa.text(statement), {"id": cluster_id})


async def _together(world: World, size: str) -> float:
    """Creates per second by callers of different projects, who return what they got before they ask again."""
    customers = await _customers(world, CALLERS)
    flavor, region = FLAVOR[size]
    created, until = 0, time.perf_counter() + SECONDS

    async def call(customer: Customer) -> None:
        nonlocal created
        while time.perf_counter() < until:
            accepted = await customer.create(f"c{time.monotonic_ns()}", flavor, region=region)
            created += 1
            await _give_back(world, accepted.target_id)

    await asyncio.gather(*(call(customer) for customer in customers))
    return created / SECONDS


async def _contend(world: World) -> Finding:
    """Everybody asks for one machine at once; the last ones lie scattered over the large region."""
    flavor, region = FLAVOR[LARGE]
    await _hold(world, _ALL_BUT, region=region, spared=LAST)
    customers = await _customers(world, CONTENDERS)
    answers, seconds = Counter[str](), []

    async def contend(customer: Customer) -> None:
        began = time.perf_counter()
        try:
            await customer.create("wanted", flavor, region=region)
            answers["created"] += 1
        except Problem as problem:
            answers[problem.kind.code] += 1
        seconds.append(time.perf_counter() - began)

    await asyncio.gather(*(contend(customer) for customer in customers))
    if answers != {"created": LAST, CAPACITY_EXHAUSTED.code: CONTENDERS - LAST}:
        raise ValueError(f"{CONTENDERS} contenders for {LAST} machines got {dict(answers)}")
    percentiles = statistics.quantiles(seconds, n=100, method="inclusive")
    return Finding(
        f"{CONTENDERS} requests for the last {LAST} of {LARGE}, p99",
        percentiles[98],
        "s",
        goal=at_most(1.0),
        numbers={"p50 s": percentiles[49], **answers},
    )


async def _customers(world: World, number: int) -> list[Customer]:
    async with world.database.begin() as connection:
        return [world.customer(await make_project(connection)) for _ in range(number)]
