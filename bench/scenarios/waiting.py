"""The memory of one worker with many operations under way: checked in turns, and all in unanswered calls."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import psycopg

from bench.child import cpu_seconds
from bench.finding import Finding, at_most
from bench.stage import Stage
from bench.workers import request_clusters, start_worker
from ipucloud.wire.faults import FaultAction, FaultRule
from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite, running_site

MEGABYTES = 300.0
NEVER = 1e-6
"""A time scale at which nothing that the site was asked for ever gets ready."""
PATIENCE = 180.0


@dataclass(frozen=True, slots=True)
class Size:
    """`seconds`: how long the worker goes on once every operation has been checked."""

    operations: int = 2000
    seconds: float = 8.0


SMALLEST = Size(operations=2, seconds=0.1)

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


def run(stage: Stage, size: Size) -> list[Finding]:
    in_turns = Case("waiting for the site, checked in turns", _RUNNING)
    unanswered = Case(
        "each in a call that is not answered",
        _LEASED,
        {"worker_slots": size.operations, "site_call_timeout": PATIENCE, "lease_seconds": 2 * PATIENCE},
    )
    with (
        stage.database() as urls,
        running_site(stage.folder / "waiting-site", machines=size.operations, time_scale=NEVER) as site,
    ):
        asyncio.run(request_clusters(urls.app_url, site, size.operations))
        checked = _memory(stage, size, urls, site, in_turns)
        site.http().post("/v1/faults", json=_silence().model_dump(mode="json")).raise_for_status()
        with psycopg.connect(urls.superuser_url) as connection:
            connection.execute(_AGAIN)
        return [checked, _memory(stage, size, urls, site, unanswered)]


def _memory(stage: Stage, size: Size, urls: Scratch, site: RunningSite, case: Case) -> Finding:
    """The most memory a new worker takes until every operation waits, and a while longer."""
    with (
        start_worker(stage.folder, urls.app_url, site, case.settings) as worker,
        psycopg.connect(urls.app_url, autocommit=True) as connection,
    ):
        at_rest, started, waiting = worker.memory(), time.monotonic(), 0
        while waiting < size.operations:
            if time.monotonic() > started + PATIENCE:
                raise worker.failure(f"has {waiting} of {size.operations} operations waiting")
            time.sleep(0.2)
            row = connection.execute(case.counted.encode()).fetchone()
            waiting = 0 if row is None else row[0]
        reached = time.monotonic() - started
        time.sleep(size.seconds)
        memory, busy = worker.memory(), cpu_seconds(worker.pid)
        worker.kill()  # calls that never end would only hold it up
    numbers = {"idle MB": at_rest, "all wait after s": reached, "worker CPU s": busy}
    return Finding(f"{size.operations} operations {case.what}", memory, "MB", goal=at_most(MEGABYTES), numbers=numbers)


def _silence() -> FaultRule:
    return FaultRule(call="networks.*", action=FaultAction.STALL)
