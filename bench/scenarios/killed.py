"""How long a cluster stands still when the worker that is busy with it is killed."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack

import psycopg

from bench.child import Child
from bench.databases import opened
from bench.finding import Finding, at_most
from bench.stage import Stage
from bench.workers import register, start_worker
from ipucloud.wire.faults import FaultAction, FaultRule
from tests.support.factories import Project
from tests.support.site import RunningSite, running_site
from tests.support.world import World

STEP, CALL = "create_allocation", "admin.CreateAllocation"
PATIENCE = 60.0

_STEP_DONE = "SELECT count(*) FROM operation_steps WHERE name = %s AND state = 'succeeded'"
_HOLDER = "SELECT lease_owner FROM work WHERE kind = 'cluster' AND lease_owner IS NOT NULL"
_ALL_ENDED = "SELECT count(*) = 0 FROM operations WHERE finished_at IS NULL"


def run(stage: Stage) -> list[Finding]:
    with (
        stage.database() as urls,
        running_site(stage.folder / "killed-site", machines=stage.rounds, time_scale=0.0) as site,
        psycopg.connect(urls.app_url, autocommit=True) as connection,
        ExitStack() as started,
    ):
        customer = asyncio.run(_prepare(urls.app_url, site))

        def start() -> Child:
            return started.enter_context(start_worker(stage.folder, urls.app_url, site, {"log_level": "info"}))

        workers = [start(), start()]
        pauses = []
        for number in range(stage.rounds):
            _hold_back(site)
            asyncio.run(_create(urls.app_url, customer, f"cluster-{number}"))
            _until(lambda: _held_back(site))
            busy = _holder(connection, workers)
            workers.remove(busy)
            pauses.append(_kill_and_wait(busy, connection, number + 1))
            _until(lambda: _one(connection, _ALL_ENDED))
            if number + 1 < stage.rounds:
                workers.append(start())
    return [
        Finding(
            "a killed worker's cluster moves on, worst",
            max(pauses),
            "s",
            goal=at_most(2.0),
            numbers={"median s": statistics.median(pauses), "kills": len(pauses)},
        )
    ]


def _holder(connection: psycopg.Connection, workers: list[Child]) -> Child:
    """The worker that holds the cluster's lease: each logs the number it does so under."""
    owner = _one(connection, _HOLDER)
    return next(worker for worker in workers if f'"owner": {owner}' in worker.log.read_text())


def _kill_and_wait(worker: Child, connection: psycopg.Connection, done: int) -> float:
    """Seconds from the kill until the step that the worker was in has succeeded by another's hand."""
    if _one(connection, _STEP_DONE, STEP) != done - 1:
        raise ValueError("the step was over before its worker was killed")
    worker.kill()
    killed = time.monotonic()
    _until(lambda: _one(connection, _STEP_DONE, STEP) == done, pause=0.002)
    return time.monotonic() - killed


async def _prepare(url: str, site: RunningSite) -> Project:
    async with opened(url) as database:
        return (await register(database, site)).project


async def _create(url: str, customer: Project, name: str) -> None:
    async with opened(url) as database:
        await World(database, customer).create(name)


def _hold_back(site: RunningSite) -> None:
    """Keep the answer to the next call of the step back for ever."""
    rule = FaultRule(call=CALL, action=FaultAction.STALL, times=1)
    site.http().delete("/v1/faults").raise_for_status()
    site.http().post("/v1/faults", json=rule.model_dump(mode="json")).raise_for_status()


def _held_back(site: RunningSite) -> bool:
    rules = site.http().get("/v1/faults").raise_for_status().json()["faults"]
    return all(rule["hits"] == 1 for rule in rules)


def _one(connection: psycopg.Connection, statement: str, *values: object) -> object:
    row = connection.execute(statement.encode(), values).fetchone()
    return None if row is None else row[0]


def _until(condition: Callable[[], object], *, pause: float = 0.02) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("what the benchmark waits for did not happen")
        time.sleep(pause)
