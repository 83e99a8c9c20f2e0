"""A partition made and removed through the REST API, over the same by the bare calls of the controller.

Nothing takes time at the simulated site: what is measured is what the control plane adds, from the request through
the worker to the operation that is done.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from uuid import UUID

import httpx

from bench.databases import opened
from bench.finding import Finding
from bench.rounds import alternate
from bench.servers import HOST, serving_product
from bench.stage import Stage
from bench.workers import register, start_worker
from ipucloud.wire import vipu_pb2
from tests.support.factories import Project
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.vipu import VipuDriver
from tests.support.waiting import until

FLAVOR = "m2000-pod16"
IPUS = 4
"""Of each partition."""
PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Size:
    """`partitions`: made and removed one after the other, in one turn."""

    partitions: int = 20


SMALLEST = Size(partitions=1)


@dataclass(frozen=True, slots=True)
class Sides:
    """One cluster in use, reached by HTTP and at its controller."""

    partitions: int
    client: httpx.Client
    cluster: str
    vipu: VipuDriver
    allocation: str

    def rest(self) -> float:
        """Partitions a second."""
        started = time.perf_counter()
        for number in range(self.partitions):
            body = {"name": f"bench-{number}", "size": IPUS}
            self.done(self.client.post(f"{self.cluster}/partitions", json=body))
            self.done(self.client.delete(f"{self.cluster}/partitions/bench-{number}"))
        return self.partitions / (time.perf_counter() - started)

    def bare(self) -> float:
        started = time.perf_counter()
        for number in range(self.partitions):
            name = f"bare-{number}"
            self.vipu.create(name, IPUS, allocation_id=self.allocation)
            while self.vipu.status(name).ready_state != vipu_pb2.PS_ACTIVE:
                pass
            self.vipu.remove(name)
            while name in self.vipu.partitions(self.allocation):
                pass
        return self.partitions / (time.perf_counter() - started)

    def done(self, accepted: httpx.Response) -> None:
        operation = accepted.raise_for_status().headers["location"]
        while not (document := self.client.get(operation).raise_for_status().json())["done"]:
            pass
        if document["state"] != "succeeded":
            raise ValueError(f"{document['kind']} ended as {document['state']}: {document['error']}")


def run(stage: Stage, size: Size) -> list[Finding]:
    with (
        running_site(stage.folder / "site", machines=16) as site,
        stage.database() as urls,
        start_worker(stage.folder, urls.app_url, site),
        serving_product(stage.folder, urls.app_url) as api,
    ):
        customer, cluster, name = asyncio.run(_cluster(urls, site))
        headers = {"Authorization": f"Bearer {customer.token.secret}"}
        with httpx.Client(base_url=f"http://{HOST}:{api.port}", headers=headers, timeout=PATIENCE) as client:
            path = f"/v1/projects/{customer.slug}/clusters/{cluster}"
            sides = Sides(size.partitions, client, path, VipuDriver(site.channel()), name)
            sides.done(client.delete(f"{path}/partitions/{name}"))
            rates = alternate({"bare": sides.bare, "rest": sides.rest}, stage.rounds)
    return [
        Finding(
            "a partition by the bare calls, over one through the API",
            rates.ratio("bare", "rest"),
            numbers=rates.numbers("bare", "rest"),
        )
    ]


async def _cluster(urls: Scratch, site: RunningSite) -> tuple[Project, UUID, str]:
    """A cluster that the worker has made, and its name at the controller."""
    async with opened(urls.app_url) as database:
        world = await register(database, site)
        cluster = await world.create("bench", FLAVOR)
        active = "SELECT count(*) FROM clusters WHERE id = :id AND state = 'active'"
        await until(lambda: world.value(active, id=cluster.target_id), "the cluster is active")
        name: str = await world.value("SELECT external_name FROM clusters WHERE id = :id", id=cluster.target_id)
    return world.project, cluster.target_id, name
