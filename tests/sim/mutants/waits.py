"""Bugs in the queue of those that wait for capacity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.operations import resize, resume
from ipucloud.clusters.preemption import notices, plan
from ipucloud.clusters.reservations import store
from ipucloud.clusters.steps import build
from ipucloud.clusters.waiting import queue
from ipucloud.clusters.waiting.queue import Waiter
from ipucloud.inventory.placement import Demand
from ipucloud.operations.results import Pending
from ipucloud.policies import reservations as follow_reserved
from ipucloud.policies import waiting as serve
from tests.sim.mutants.planting import Mutant, answers
from tests.support.postgres import TEMPLATE, Database, TestServer

_CROWDED = {"CROWDED": 1.0}
_crowded = partial(Mutant, weather=_CROWDED)
_WAITS = "tests/feature/clusters/test_waiting_resumes.py"
_NO_TRIGGERS = [f"DROP TRIGGER {table}_wake_those_that_wait ON {table}" for table in ("pods", "hosts", "quotas")]

queue_is_overtaken = (
    Mutant("a resume or resize that does not wait overtakes those that do", f"{_WAITS} -k overtake_nobody")
    .replace(resume, "awaited", answers(False))
    .replace(resize, "awaited", answers(False))
)


@Mutant("a small cluster gets the room that the first in the queue waits for", f"{_WAITS} -k none_is_overtaken").wraps(
    serve, "_serve_one"
)
async def head_is_passed_over(honest: Any, *arguments: Any) -> str | None:
    return "quota_exceeded" if await honest(*arguments) else None


cancelled_wait_is_served = (
    Mutant("a cancelled wait still gets its machines", f"{_WAITS} -k cancelled_wait")
    .rewrite(queue, "_QUEUE", ("AND o.state <> 'cancelling'", ""))
    .replace(queue, "begin_anew", answers(True))
)

waits_are_not_counted = Mutant(
    "what a resize that waits is to add is left out of the quota", f"{_WAITS} -k quota_counts"
).rewrite(queue, "_WAITED_FOR", ("greatest(0, waits.machines", "greatest(0, 0 * waits.machines"))


@Mutant("a release does not wake the queue", f"{_WAITS} -k wakes_the_queue").wraps(TestServer, "fresh_database")
@contextmanager
def release_wakes_nobody(honest: Any, server: TestServer, template: str = TEMPLATE) -> Iterator[Database]:
    with honest(server, template) as database:
        with psycopg.connect(database.owner_url, autocommit=True) as connection:
            for statement in _NO_TRIGGERS:
                connection.execute(statement.encode())
        yield database


room_wakes_nobody = _crowded("machines and hosts that become free wake nobody who waits for them", schema=_NO_TRIGGERS)


@_crowded("the queue skips its first").wraps(serve, "waiters")
async def first_is_skipped(honest: Any, *arguments: Any) -> list[Waiter]:
    waiters: list[Waiter] = await honest(*arguments)
    return waiters[1:]


wait_never_ends = _crowded("a wait goes on after its time").replace(
    build, "Failed", lambda *_, **__: Pending("waiting for capacity", recheck=30.0, blocked=True)
)


@_crowded("of a reservation for several clusters only the first block is held").wraps(store, "allocate")
async def one_block_is_held(honest: Any, connection: AsyncConnection, demand: Demand) -> Any:
    if demand.reserved is not None and demand.reserved.block == 0:
        return await honest(connection, demand)
    return None


cancelled_reservation_holds_on = _crowded("a cancelled reservation keeps its machines").replace(
    store, "free_unused", answers(0)
)

reservation_never_begins = _crowded("a reservation is not begun at its time").replace(
    follow_reserved, "_begin", answers(None)
)


@_crowded("a preemptible cluster is suspended as soon as it is told").wraps(notices, "give_notice")
async def preempted_without_notice(honest: Any, connection: AsyncConnection, *, notice: timedelta, **of: Any) -> None:
    await honest(connection, notice=0 * notice, **of)


@_crowded("a preemptible cluster is told to make room although machines are free, or soon will be").wraps(
    plan, "choose_victims"
)
def preempted_for_nothing(honest: Any, pods: Any, usable: Any, *others: Any) -> Any:
    return honest(pods, [0 for _ in usable], *others)
