"""The memory of one worker with 2,000 operations under way: checked in turns, and all in unanswered calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import psycopg

from bench.child import cpu_seconds
from bench.copies import copy_cluster
from bench.finding import Finding, at_most
from bench.stage import Stage
from bench.workers import register, start_worker
from ipucloud.db.engine import Database
from ipucloud.wire.faults import FaultAction, FaultRule
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site

OPERATIONS = 2000
MEGABYTES = 300.0
NEVER = 1e-6
"""A time scale at which nothing that the site was asked for ever gets ready."""
PATIENCE = 180.0
SECONDS = 8.0
"""How long the worker goes on once every operation has been checked."""

_RUNNING = "SELECT count(*) FROM operations WHERE state = 'running'"
_LEASED = "SELECT count(*) FROM work WHERE kind = 'cluster' AND lease_owner IS NOT NULL"
_AGAIN = """
UPDATE work SET run_at = app_now(), lease_owner = NULL, lease_until = NULL WHERE kind = 'cluster'
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A way to wait; `counted` gives how many operations do."""

    what: str
    counted: str
    settings: Mapping[str, float] = field(default_factory=dict)


IN_TURNS = Case("waiting for the site, checked in turns", _RUNNING)
UNANSWERED = Case(
    "each in a call that is not answered",
    _LEASED,
    {"worker_slots": OPERATIONS, "site_call_timeout": PATIENCE, "lease_seconds": 2 * PATIENCE},
)


def run(stage: Stage) -> list[Finding]:
    with (
        stage.database("bench_waiting") as urls,
        running_site(stage.folder / "waiting-site", machines=OPERATIONS, time_scale=NEVER) as site,
    ):
        asyncio.run(_ask_for_one(urls.app_url, site))
        copy_cluster(urls.superuser_url, OPERATIONS - 1)
        in_turns = _memory(stage, urls, site, IN_TURNS)
        site.http().post("/v1/faults", json=_silence().model_dump(mode="json")).raise_for_status()
        with psycopg.connect(urls.superuser_url) as connection:
            connection.execute(_AGAIN)
        return [in_turns, _memory(stage, urls, site, UNANSWERED)]


def _memory(stage: Stage, urls: Scratch, site: RunningSite, case: Case) -> Finding:
    """The most memory a new worker takes until every operation waits, and a while longer."""
    with (
        start_worker(stage.folder, urls.app_url, site, case.settings) as worker,
        psycopg.connect(urls.app_url, autocommit=True) as connection,
    ):
        at_rest, started, waiting = worker.memory(), time.monotonic(), 0
        while waiting < OPERATIONS:
            if time.monotonic() > started + PATIENCE:
                raise worker.failure(f"has {waiting} of {OPERATIONS} operations waiting")
            time.sleep(0.2)
            row = connection.execute(case.counted.encode()).fetchone()
            waiting = 0 if row is None else row[0]
        reached = time.monotonic() - started
        time.sleep(SECONDS)
        memory, busy = worker.memory(), cpu_seconds(worker.pid)
        worker.kill()  # calls that never end would only hold it up
    numbers = {"idle MB": at_rest, "all wait after s": reached, "worker CPU s": busy}
    return Finding(f"{OPERATIONS} operations {case.what}", memory, "MB", goal=at_most(MEGABYTES), numbers=numbers)


def _silence() -> FaultRule:
    return FaultRule(call="networks.*", action=FaultAction.STALL)


async def _ask_for_one(url: str, site: RunningSite) -> None:
    database = Database(url, pool_size=1)
    await (await register(database, site)).create("original")
    await database.close()
