"""What one project that asks for all it can get costs the others: 200 requests at once, by 34 of its tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from bench.finding import Finding, at_most
from bench.load import Load, open_load
from bench.rounds import alternate
from bench.servers import Server, request, serving_product
from bench.stage import Stage
from ipucloud.identity.roles import Role
from tests.support.factories import Project, make_project, make_token
from tests.support.postgres import Database as Scratch
from tests.support.world import open_world

FLAVOR = "m2000-pod4"
OTHERS, PAUSE = 2, 0.05
"""Connections of the project whose answers are timed, and seconds between the requests of each: within its limits."""


@dataclass(frozen=True, slots=True)
class Size:
    """`seconds`: of a turn. The greedy project lists its `clusters` with `tokens`, in `connections` at once."""

    connections: int = 200
    tokens: int = 34
    clusters: int = 20
    seconds: float = 12.0


SMALLEST = Size(connections=3, tokens=2, clusters=1, seconds=0.2)


@dataclass(frozen=True, slots=True)
class Customers:
    """A project with many tokens, and another one; the requests of each."""

    greedy: list[str]
    other: list[str]


def run(stage: Stage, size: Size) -> list[Finding]:
    with stage.database() as urls:
        customers = asyncio.run(_prepare(urls, size))
        with open_load(stage) as greedy, open_load(stage) as other:
            return [
                _compare(stage, size, urls, customers, (greedy, other), limited=limited) for limited in (False, True)
            ]


def _compare(
    stage: Stage, size: Size, urls: Scratch, customers: Customers, loads: tuple[Load, Load], *, limited: bool
) -> Finding:
    greedy, other = loads
    with serving_product(stage.folder, urls.app_url, limited=limited) as api:

        def p99(connections: int) -> float:
            with _busy(api, greedy, customers.greedy, connections, size.seconds):
                other.for_seconds(size.seconds / 2, api.port, customers.other, connections=OTHERS, pause=PAUSE)
            return other.p99 * 1000

        delays = alternate({"beside": lambda: p99(size.connections), "alone": lambda: p99(0)}, stage.rounds)
    low, high = delays.middle("beside", "alone")
    return Finding(
        f"p99 of reads beside a project with {size.connections} requests at once, over alone"
        + (", with the usual rate limits" if limited else ", without rate limits"),
        delays.ratio("beside", "alone"),
        goal=at_most(2.0),
        numbers={"beside ms": delays.median("beside"), "alone ms": delays.median("alone"), "from": low, "to": high},
    )


@contextmanager
def _busy(api: Server, load: Load, requests: list[str], connections: int, seconds: float) -> Iterator[None]:
    """The greedy project asks meanwhile."""
    if not connections:
        yield
        return
    with ThreadPoolExecutor(1) as threads:
        asking = threads.submit(load.for_seconds, seconds, api.port, requests, expect=None, connections=connections)
        yield
        asking.result()


async def _prepare(urls: Scratch, size: Size) -> Customers:
    async with open_world(urls.app_url, pods=4, hosts=64) as world:
        for number in range(size.clusters):
            await world.make_active(f"cluster-{number}", FLAVOR)
        async with world.database.begin() as connection:
            tokens = [await make_token(connection, world.project.id, Role.VIEWER) for _ in range(size.tokens)]
            other = await make_project(connection, "other")
        await world.execute("ANALYZE")
        return Customers([_list(world.project, token.secret) for token in tokens], [_list(other, other.token.secret)])


def _list(project: Project, secret: str) -> str:
    return request("GET", f"/v1/projects/{project.slug}/clusters", headers={"Authorization": f"Bearer {secret}"})
