"""Authenticated reads through the whole API, against a bare endpoint that runs the same statement for anybody."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from uuid import UUID

import httpx

from bench.child import cpu_seconds
from bench.finding import Finding, at_least
from bench.load import Load, open_load
from bench.peers import bare
from bench.rounds import alternate
from bench.servers import HOST, Server, request, serving, serving_product
from bench.stage import Stage
from tests.support.factories import Project
from tests.support.postgres import Database as Scratch
from tests.support.world import open_world

FLAVOR = "m2000-pod16"
"""Four machines and a Poplar server."""


@dataclass(frozen=True, slots=True)
class Size:
    """`seconds`: how long one side has its turn."""

    clusters: int = 50
    seconds: float = 1.0


SMALLEST = Size(clusters=1, seconds=0.05)


@dataclass(frozen=True, slots=True)
class Sides:
    """The two servers, and who asks."""

    size: Size
    customer: Project
    api: Server
    bare: Server
    load: Load

    def compare(self, what: str, paths: list[str], rounds: int) -> Finding:
        """Send the same paths to both. Raises ValueError when they do not answer the same."""
        headers = {"Authorization": f"Bearer {self.customer.token.secret}"}
        project = f"/v1/projects/{self.customer.slug}"
        if _ids(self.api, project + paths[0], headers) != _ids(self.bare, paths[0], {}):
            raise ValueError("the bare endpoint does not answer what the API answers")
        api = Side(
            self.load, self.size.seconds, self.api, [request("GET", project + path, headers=headers) for path in paths]
        )
        bare = Side(self.load, self.size.seconds, self.bare, [request("GET", path) for path in paths])
        rates = alternate({"api": api.turn, "bare": bare.turn}, rounds)
        return Finding(
            f"{what}, over the bare statement",
            rates.ratio("api", "bare"),
            goal=at_least(0.6),
            numbers=rates.numbers("api", "bare")
            | {"api CPU µs": api.cpu, "bare CPU µs": bare.cpu, "client busy": self.load.busiest},
        )


@dataclass(slots=True)
class Side:
    """One server under load. `cpu`: the least microseconds of its process that one request took in any turn."""

    load: Load
    seconds: float
    server: Server
    requests: list[str]
    cpu: float = math.inf

    def turn(self) -> float:
        before = cpu_seconds(self.server.pid)
        rate = self.load.for_seconds(self.seconds, self.server.port, self.requests)
        self.cpu = min(self.cpu, (cpu_seconds(self.server.pid) - before) / (rate * self.seconds) * 1e6)
        return rate


def run(stage: Stage, size: Size) -> list[Finding]:
    with stage.database() as urls:
        customer, clusters = asyncio.run(prepare(urls, FLAVOR, size.clusters))
        environment = {bare.DATABASE: urls.app_url, bare.PROJECT: str(customer.id)}
        with (
            serving("bench.peers.bare:app", stage.folder, environment) as bare_server,
            serving_product(stage.folder, urls.app_url) as api_server,
            open_load(stage) as load,
        ):
            sides = Sides(size, customer, api_server, bare_server, load)
            return [
                sides.compare("get one cluster", [f"/clusters/{cluster}" for cluster in clusters], stage.rounds),
                sides.compare(f"list of {size.clusters}", ["/clusters"], stage.rounds),
            ]


async def prepare(urls: Scratch, flavor: str, number: int) -> tuple[Project, list[UUID]]:
    """A customer with so many active clusters."""
    async with open_world(urls.app_url, pods=16, hosts=64) as world:
        clusters = [await world.make_active(f"cluster-{each}", flavor) for each in range(number)]
        await world.execute("ANALYZE")
        return world.project, clusters


def _ids(server: Server, path: str, headers: dict[str, str]) -> list[str]:
    document = httpx.get(f"http://{HOST}:{server.port}{path}", headers=headers, timeout=10.0).raise_for_status().json()
    if isinstance(document, dict):
        document = document.get("items", [document])
    return [item["id"] for item in document]
