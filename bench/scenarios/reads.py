"""Authenticated reads through the whole API, against a bare endpoint that runs the same statement for anybody."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from uuid import UUID

import httpx

from bench.finding import Finding, at_least
from bench.load import Load, open_load
from bench.peers import bare
from bench.rounds import alternate
from bench.servers import HOST, request, serving, serving_product
from bench.stage import Stage, Urls
from bench.world import Customer, furnish, make_active_clusters, new_customer
from ipucloud.config import Settings
from ipucloud.db.engine import Database

CLUSTERS = 50
SECONDS = 1.0
"""How long one side has its turn."""


@dataclass(frozen=True, slots=True)
class Sides:
    """The two servers, and who asks."""

    customer: Customer
    api_port: int
    bare_port: int
    load: Load

    def compare(self, what: str, paths: list[str], rounds: int) -> Finding:
        """Send the same paths to both. Raises ValueError when they do not answer the same."""
        headers = {"Authorization": f"Bearer {self.customer.token}"}
        project = f"/v1/projects/{self.customer.slug}"
        if _ids(self.api_port, project + paths[0], headers) != _ids(self.bare_port, paths[0], {}):
            raise ValueError("the bare endpoint does not answer what the API answers")
        asked = [request("GET", project + path, headers=headers) for path in paths]
        bare_asked = [request("GET", path) for path in paths]
        rates = alternate(
            {
                "api": lambda: self.load.for_seconds(SECONDS, self.api_port, asked),
                "bare": lambda: self.load.for_seconds(SECONDS, self.bare_port, bare_asked),
            },
            rounds,
        )
        return Finding(
            f"{what}, over the bare statement",
            rates.ratio("api", "bare"),
            goal=at_least(0.6),
            numbers=rates.numbers("api", "bare") | {"client busy": self.load.busiest},
        )


def run(stage: Stage) -> list[Finding]:
    with stage.database("bench_reads") as urls:
        customer, clusters = asyncio.run(prepare(urls))
        environment = {bare.DATABASE: urls.app, bare.PROJECT: str(customer.project_id)}
        with (
            serving("bench.peers.bare:app", stage.folder, environment) as bare_port,
            serving_product(stage.folder, urls.app) as api_port,
            open_load(stage.folder) as load,
        ):
            sides = Sides(customer, api_port, bare_port, load)
            return [
                sides.compare("get one cluster", [f"/clusters/{cluster}" for cluster in clusters], stage.rounds),
                sides.compare(f"list of {CLUSTERS}", ["/clusters"], stage.rounds),
            ]


async def prepare(urls: Urls) -> tuple[Customer, list[UUID]]:
    """A customer with active clusters of four machines each."""
    database = Database(urls.app, pool_size=4)
    await furnish(database, pods=16, hosts=64)
    customer = await new_customer(database)
    names = [f"cluster-{number}" for number in range(CLUSTERS)]
    clusters = await make_active_clusters(database, customer, names, "m2000-pod16", Settings())
    async with database.read() as connection:
        await connection.exec_driver_sql("ANALYZE")
    await database.close()
    return customer, clusters


def _ids(port: int, path: str, headers: dict[str, str]) -> list[str]:
    found = httpx.get(f"http://{HOST}:{port}{path}", headers=headers, timeout=10.0).raise_for_status().json()
    if isinstance(found, dict):
        found = found.get("items", [found])
    return [item["id"] for item in found]
