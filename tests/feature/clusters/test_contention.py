"""Many requests at once, on connections of their own: nobody is refused what there is, and nobody deadlocks.

`tests/proof/test_contention.py` shows that the last machines and a quota are given out exactly.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar
from uuid import UUID

import pytest

from ipucloud.inventory.queries import region_capacity
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED, UNAVAILABLE, Problem
from ipucloud.operations.store import Accepted
from tests.support.factories import Project, make_project
from tests.support.postgres import Database as Scratch
from tests.support.world import World, open_world

pytestmark = pytest.mark.anyio

CONNECTIONS = 40
Result = TypeVar("Result")


@pytest.fixture
async def crowd(database: Scratch) -> AsyncIterator[World]:
    """A world that many requests reach at once, with hosts for all. Its rules say that quotas agree with it."""
    async with open_world(database.app_url, hosts=64, pool_size=CONNECTIONS) as world:
        yield world


async def answered(request: Callable[[], Awaitable[Result]]) -> Result:
    """What the request gives in the end: one that waited too long is sent again, as its refusal asks for."""
    while True:
        try:
            return await request()
        except Problem as problem:
            if problem.kind is not UNAVAILABLE:
                raise


async def outcomes(requests: Sequence[Callable[[], Awaitable[Result]]]) -> tuple[list[Result], Counter[str]]:
    """What the requests gave, and how often each problem; anything else fails the test.

    A refusal for want of capacity has its numbers.
    """
    done = await asyncio.gather(*map(answered, requests), return_exceptions=True)
    for failure in done:
        if isinstance(failure, BaseException) and not isinstance(failure, Problem):
            raise failure
    problems = [failure for failure in done if isinstance(failure, Problem)]
    assert all(why_not(problem) for problem in problems if problem.kind is CAPACITY_EXHAUSTED)
    counted = Counter(problem.kind.code for problem in problems)
    return [result for result in done if not isinstance(result, BaseException)], counted


def why_not(problem: Problem) -> dict[str, int]:
    reason = problem.extra["why_not"]
    assert isinstance(reason, dict)
    numbers: dict[str, int] = reason["numbers"]
    return numbers


async def projects(world: World, count: int) -> list[Project]:
    async with world.database.begin() as connection:
        return [await make_project(connection) for _ in range(count)]


async def test_whoever_is_refused_would_not_have_fitted(crowd: World) -> None:
    """Two regions at once, clusters of three sizes: a size that was refused has no place left in its region."""
    customers = await projects(crowd, 4)
    flavors = [
        (f"{prefix}-{size}", region)
        for _ in range(10)
        for size in ("pod4", "pod8", "pod16")
        for prefix, region in (("m2000", "luxembourg-2"), ("bow", "amsterdam-2"))
    ]
    requests = [
        answered(partial(crowd.customer(customers[index % 4]).create, f"c{index}", flavor, region=region))
        for index, (flavor, region) in enumerate(flavors)
    ]
    done = await asyncio.gather(*requests, return_exceptions=True)
    assert all(why_not(result) for result in done if isinstance(result, Problem))
    refused = {flavor for flavor, result in zip(flavors, done, strict=True) if isinstance(result, Problem)}
    assert {result.kind.code for result in done if isinstance(result, Problem)} == {"capacity_exhausted"}
    assert not [result for result in done if not isinstance(result, Problem | Accepted)]
    async with crowd.database.read() as connection:
        room = {
            (flavor.flavor, region): flavor.available
            for region in ("luxembourg-2", "amsterdam-2")
            for flavor in await region_capacity(connection, region=region, flavors=crowd.catalogue.flavors_in(region))
        }
    assert {key: room[key] for key in refused} == dict.fromkeys(refused, 0)


async def test_one_name_is_given_once(crowd: World) -> None:
    results, problems = await outcomes([partial(crowd.create, "wanted") for _ in range(30)])
    assert (len(results), problems) == (1, {"name_taken": 29})


async def test_deletes_and_creates_side_by_side(crowd: World) -> None:
    """Clusters come and go; nothing waits in a circle and nothing is lost from the books."""
    first = [await crowd.create(f"c{index}") for index in range(8)]

    async def replace(cluster_id: UUID, index: int) -> Accepted:
        await answered(partial(crowd.delete, cluster_id))
        await crowd.finish_delete(cluster_id)
        return await answered(partial(crowd.create, f"c{index}"))

    results, problems = await outcomes(
        [partial(replace, accepted.target_id, index) for index, accepted in enumerate(first)]
        + [partial(crowd.create, f"new{index}") for index in range(40)]
    )
    assert set(problems) <= {"capacity_exhausted"}
    assert len(await crowd.column("SELECT id FROM clusters WHERE deleted_at IS NULL")) == 16
    assert len(results) >= 8
