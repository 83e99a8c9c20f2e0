"""The memory of the programs of a system: after their start, and after clusters were made and looked at."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from itertools import cycle, islice

import psycopg

from bench.child import peak_memory
from bench.databases import opened
from bench.finding import Finding, at_most
from bench.load import open_load
from bench.servers import request, serving_product
from bench.stage import Stage
from bench.workers import register, start_worker
from tests.support.factories import Project
from tests.support.site import RunningSite, running_site

GOALS = {"API": 140.0, "worker": 130.0}
"""Megabytes."""
PATIENCE = 120.0
_ACTIVE = b"SELECT count(*) FROM clusters WHERE state = 'active'"


@dataclass(frozen=True, slots=True)
class Size:
    """`requests`: for the list, and for each of the clusters, over and over."""

    clusters: int = 50
    requests: int = 10_000


SMALLEST = Size(clusters=1, requests=2)


def run(stage: Stage, size: Size) -> list[Finding]:
    with (
        stage.database() as urls,
        running_site(stage.folder / "memory-site", machines=size.clusters) as site,
        start_worker(stage.folder, urls.app_url, site) as worker,
        serving_product(stage.folder, urls.app_url) as api,
        open_load(stage) as load,
    ):
        programs = {"API": api.pid, "worker": worker.pid, "simulated site": site.pid}
        at_rest = {name: peak_memory(pid) for name, pid in programs.items()}
        customer = asyncio.run(_requested(urls.app_url, site, size.clusters))
        _await_active(urls.app_url, size.clusters)
        headers = {"Authorization": f"Bearer {customer.token.secret}"}
        clusters = f"/v1/projects/{customer.slug}/clusters"
        paths = [clusters, *(f"{clusters}/cluster-{number}" for number in range(size.clusters))]
        sent = islice(cycle(paths), size.requests)
        load.each_once(api.port, [request("GET", path, headers=headers) for path in sent], expect=200)
        return [
            Finding(
                f"{name} after {size.clusters} clusters and {size.requests:,} requests",
                peak_memory(pid),
                "MB",
                goal=at_most(GOALS[name]) if name in GOALS else None,
                numbers={"after its start": at_rest[name]},
            )
            for name, pid in programs.items()
        ]


async def _requested(url: str, site: RunningSite, clusters: int) -> Project:
    """The customer who asked for so many clusters of one machine."""
    async with opened(url) as database:
        world = await register(database, site)
        for number in range(clusters):
            await world.create(f"cluster-{number}")
        return world.project


def _await_active(url: str, clusters: int) -> None:
    deadline = time.monotonic() + PATIENCE
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(_ACTIVE).fetchone() != (clusters,):
            if time.monotonic() > deadline:
                raise ValueError(f"not all of {clusters} clusters were active after {PATIENCE:g} s")
            time.sleep(0.1)
