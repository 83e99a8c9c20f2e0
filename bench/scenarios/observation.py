"""Reading a large region at a simulated site, and how soon a failure makes its cluster degraded."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from bench.child import cpu_seconds
from bench.databases import opened
from bench.finding import Finding, at_most
from bench.rounds import Rates
from bench.stage import Stage
from bench.workers import start_worker
from ipucloud.config import Settings
from ipucloud.db.engine import Database
from ipucloud.kernel.clock import SystemClock
from ipucloud.observation.findings import PowerWatch
from ipucloud.observation.observe import observe_region
from ipucloud.observation.servers import SshReader
from ipucloud.site.connect import SiteClients
from ipucloud.wire.faults import FaultAction, FaultRule
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site
from tests.support.waiting import until
from tests.support.world import World, open_site_world

REGION = "luxembourg-2"
CALLS = 32
"""A reading of 16,384 machines should need no more (pages of 1,000 machines, and what is asked once)."""
INTERVALS = 2.0
"""A failure should be known within so many intervals of observation."""
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Size:
    """`large`, `small`: machines of the regions. `clusters`: in use, each with a machine that fails once.

    `interval`: seconds between two readings, and before a failure at most, so that it comes at any moment of one.
    """

    large: int = 16_384
    small: int = 1_024
    clusters: int = 20
    interval: float = Settings().observation_interval


SMALLEST = Size(large=32, small=16, clusters=2, interval=0.2)

_MACHINES = """
SELECT c.id, min(m.name)
  FROM clusters c JOIN allocations a ON a.cluster_id = c.id JOIN machines m ON m.id = a.machine_id
 GROUP BY c.id ORDER BY c.id
"""


def run(stage: Stage, size: Size) -> list[Finding]:
    """Raises AssertionError when a reading is not complete, or a failure is not known in time."""
    options = ["--machines-on", "--hosts", str(size.clusters + 2)]
    with (
        stage.database() as large_urls,
        stage.database() as small_urls,
        running_site(stage.folder / "observed-large", machines=size.large, options=options) as large,
        running_site(stage.folder / "observed-small", machines=size.small, options=options) as small,
    ):
        asyncio.run(_build(size.clusters, large_urls, large))
        asyncio.run(_build(size.clusters, small_urls, small))
        findings = asyncio.run(_read(stage.rounds, size, (large_urls, large), (small_urls, small)))
        return [*findings, asyncio.run(_fail(stage, size, large_urls, large))]


async def _build(clusters: int, urls: Scratch, site: RunningSite) -> None:
    """Clusters in use; whoever built them has ended."""
    async with open_site_world(urls, site) as world, world.worker():
        for number in range(clusters):
            await world.create(f"cluster-{number}")
        await _are(world, "active", clusters)


async def _are(world: World, state: str, expected: int, cluster: UUID | None = None) -> None:
    statement = "SELECT count(*) FROM clusters WHERE state = :state AND id = coalesce(CAST(:id AS uuid), id)"

    async def so_many() -> bool:
        return bool(await world.value(statement, state=state, id=cluster) == expected)

    await until(so_many, f"{expected} clusters are {state}")


@dataclass
class Region:
    """A region that is read by this process. `site_cpu`, `own_cpu`: the least seconds of any reading."""

    database: Database
    sites: SiteClients
    site: RunningSite
    ssh: SshReader
    power: PowerWatch
    site_cpu: float = float("inf")
    own_cpu: float = float("inf")

    async def read(self) -> float:
        """Readings per second."""
        clock = SystemClock()
        site, own, started = cpu_seconds(self.site.pid), time.process_time(), time.perf_counter()
        observed = await observe_region(
            self.database,
            self.sites,
            REGION,
            budget=lambda: PATIENCE,
            fence=_nobody_else,
            clock=clock,
            ssh=self.ssh,
            power=self.power,
            expires=60.0,
        )
        seconds = time.perf_counter() - started
        assert observed is not None, "the region is not registered"
        assert observed.complete, "a source did not answer"
        self.own_cpu = min(self.own_cpu, time.process_time() - own)
        self.site_cpu = min(self.site_cpu, cpu_seconds(self.site.pid) - site)
        return 1 / seconds

    async def calls(self) -> int:
        """How many calls one reading sends, SSH not counted: rules that do nothing count them."""
        http = self.site.http()
        for call in ("redfish.list", "hosts.*", "admin.*", "vipu.*"):
            rule = FaultRule(call=call, action=FaultAction.LATENCY, seconds=0.0)
            http.post("/v1/faults", json=rule.model_dump(mode="json")).raise_for_status()
        await self.read()
        hits: int = sum(rule["hits"] for rule in http.get("/v1/faults").json()["faults"])
        http.delete("/v1/faults").raise_for_status()
        return hits


async def _nobody_else(_: object) -> None:
    """The fence of the only worker."""


@asynccontextmanager
async def _region(urls: Scratch, site: RunningSite) -> AsyncIterator[Region]:
    sites, clock = site.clients(call_timeout=Settings().site_call_timeout), SystemClock()
    async with opened(urls.app_url, pool_size=4, pool_timeout=PATIENCE) as database:
        try:
            yield Region(database, sites, site, SshReader(clock), PowerWatch(clock, Settings().power_limit))
        finally:
            await sites.close()


async def _read(rounds: int, size: Size, *regions: tuple[Scratch, RunningSite]) -> list[Finding]:
    async with _region(*regions[0]) as large, _region(*regions[1]) as small:
        calls = await large.calls()
        await small.read()
        rates: dict[str, list[float]] = {"large": [], "small": []}
        for _ in range(rounds):
            rates["large"].append(await large.read())
            rates["small"].append(await small.read())
    readings = Rates(rates)
    cpu = {"worker CPU s": large.own_cpu, "site CPU s": large.site_cpu, "calls": calls}
    per_machine = (large.own_cpu / size.large) / (small.own_cpu / size.small)
    return [
        Finding(f"one reading of {size.large:,} machines", 1 / readings.median("large"), "s", numbers=cpu),
        Finding("its calls to the site", calls, goal=at_most(CALLS)),
        Finding(
            f"the worker's CPU time for each machine, {size.large:,} over {size.small:,}",
            per_machine,
            goal=at_most(1.5),
            numbers={"small CPU s": small.own_cpu, "small s": 1 / readings.median("small")},
        ),
    ]


async def _fail(stage: Stage, size: Size, urls: Scratch, site: RunningSite) -> Finding:
    """Fail one machine after another under a worker as it is, at the pace of real time; none is repaired.

    What failed and was confirmed is read at the usual pace again, so each failure comes to a quiet region.
    """
    settings = {"repair_limit": 0, "observation_interval": size.interval}
    draw = random.Random(0)  # noqa: S311  # pauses, not a secret
    http, delays = site.http(), []
    async with opened(urls.app_url, pool_size=2, pool_timeout=PATIENCE) as database:
        with start_worker(stage.folder, urls.app_url, site, settings) as worker:
            world, began, cpu = World(database), time.monotonic(), cpu_seconds(worker.pid)
            for cluster, machine in await world.rows(_MACHINES):
                await asyncio.sleep(draw.uniform(0.0, size.interval))
                http.post(f"/v1/machines/{machine}:fail").raise_for_status()
                failed = time.monotonic()
                await _are(world, "degraded", 1, cluster)
                delays.append(time.monotonic() - failed)
            busy = (cpu_seconds(worker.pid) - cpu) / (time.monotonic() - began)
    p99 = statistics.quantiles(delays, n=100, method="inclusive")[98]
    return Finding(
        "from a machine's failure to its degraded cluster, p99, in intervals of observation",
        p99 / size.interval,
        goal=at_most(INTERVALS),
        numbers={
            "interval s": size.interval,
            "p50 s": statistics.median(delays),
            "p99 s": p99,
            "failures": len(delays),
            "worker CPU": busy,
        },
    )
