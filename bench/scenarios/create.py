"""Creating a cluster through HTTP, against the very statements of that request sent by the driver alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import uvloop
from pydantic import SecretStr

from bench.driver import Connection, connect
from bench.finding import Finding, at_least
from bench.load import Load, open_load
from bench.recording import Recording, Replay, recording
from bench.rounds import alternate
from bench.servers import request, serving_product
from bench.stage import Stage
from ipucloud.api.app import create_app
from ipucloud.config import Settings
from ipucloud.inventory.allocator import choose
from tests.support.factories import Project
from tests.support.postgres import Database as Scratch
from tests.support.settled import SETTLED
from tests.support.world import cluster_body, open_world

FLAVOR = "m2000-pod4"
NAME = "recorded-cluster"

_FORGET = (
    "TRUNCATE clusters, idempotency_keys, work, events CASCADE",
    "UPDATE quotas SET used = 0",
    *SETTLED,
    "VACUUM (ANALYZE) quotas, machines, hosts, pods, pod_runs, tokens",
)


@dataclass(frozen=True, slots=True)
class Size:
    """`clusters`: made in one turn; there are machines for all of them."""

    clusters: int = 100
    pods: int = 16


SMALLEST = Size(clusters=2, pods=1)


@dataclass(frozen=True, slots=True)
class Sides:
    """The API under load, and the driver with as many connections as the API has."""

    clusters: int
    urls: Scratch
    customer: Project
    replay: Replay
    load: Load
    port: int

    def api(self) -> float:
        self._forget()
        path = f"/v1/projects/{self.customer.slug}/clusters"
        requests = []
        for number in range(self.clusters):
            name = f"cluster-{number}"
            headers = {"Authorization": f"Bearer {self.customer.token.secret}", "Idempotency-Key": name}
            requests.append(
                request("POST", path, headers=headers, body=cluster_body(name, flavor=FLAVOR).model_dump_json())
            )
        rate = self.load.each_once(self.port, requests, expect=202)
        self._count()
        return rate

    def driver(self) -> float:
        self._forget()
        rate = uvloop.run(self._replayed())
        self._count()
        return rate

    async def _replayed(self) -> float:
        connections = [await connect(self.urls.app_url, autocommit=False) for _ in range(Settings().database_pool_size)]
        for connection in connections:
            await connection.execute("SELECT 1")
            await connection.commit()
        numbers = iter(range(self.clusters))
        started = time.perf_counter()
        await asyncio.gather(*(self._one_after_the_other(connection, numbers) for connection in connections))
        elapsed = time.perf_counter() - started
        for connection in connections:
            await connection.close()
        return self.clusters / elapsed

    async def _one_after_the_other(self, connection: Connection, numbers: Iterator[int]) -> None:
        for number in numbers:
            await self.replay.run(connection, number)

    def _forget(self) -> None:
        with psycopg.connect(self.urls.superuser_url, autocommit=True) as connection:
            for statement in _FORGET:
                connection.execute(statement)

    def _count(self) -> None:
        """Both sides leave the same rows behind, or they have not done the same."""
        counted = (
            "SELECT (SELECT count(*) FROM clusters), (SELECT count(*) FROM allocations), (SELECT count(*) FROM work)"
        )
        with psycopg.connect(self.urls.superuser_url) as connection:
            if connection.execute(counted).fetchone() != (self.clusters, 2 * self.clusters, self.clusters):
                raise ValueError("not every cluster was created")


def run(stage: Stage, size: Size) -> list[Finding]:
    with stage.database() as urls:
        customer = asyncio.run(_prepare(urls, size))
        first, second = (asyncio.run(_recorded(urls, customer, name)) for name in (NAME, "another-cluster"))
        replay = Replay(first, second, name=NAME, answered=_placement)
        with serving_product(stage.folder, urls.app_url) as server, open_load(stage) as load:
            sides = Sides(size.clusters, urls, customer, replay, load, server.port)
            rates = alternate({"api": sides.api, "driver": sides.driver}, stage.rounds)
    return [
        Finding(
            "creates, over their statements by the driver",
            rates.ratio("api", "driver"),
            goal=at_least(0.5),
            numbers=rates.numbers("api", "driver") | {"statements": len(first)},
        )
    ]


async def _prepare(urls: Scratch, size: Size) -> Project:
    async with open_world(urls.app_url, pods=size.pods, hosts=size.clusters) as world:
        return world.project


def _placement(answer: Mapping[str, Any]) -> Mapping[str, object]:
    """Of the answer that names a pod with room, or a run of pods, what the statement that takes a machine is sent."""
    if "mask" not in answer:
        return {}
    slots, places = choose(answer["mask"], 1, whole=answer["run_id"] is not None)
    return {name: answer[name] for name in ("run_id", "pod_id", "hosts")} | {"slots": slots, "places": places}


async def _recorded(urls: Scratch, customer: Project, name: str) -> Recording:
    """The statements of one request to the application, in this process."""
    app = create_app(Settings(database_url=SecretStr(urls.app_url)))
    async with app.router.lifespan_context(app):
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bench")
        async with client:
            with recording() as statements:
                answer = await client.post(
                    f"/v1/projects/{customer.slug}/clusters",
                    content=cluster_body(name, flavor=FLAVOR).model_dump_json(),
                    headers={
                        "Authorization": f"Bearer {customer.token.secret}",
                        "Idempotency-Key": name,
                        "Content-Type": "application/json",
                    },
                )
                sent = list(statements)
    answer.raise_for_status()
    return sent
