"""Bugs in the queue of those that wait for capacity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import psycopg
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.operations import resize, resume
from ipucloud.clusters.preemption import notices, plan, victims
from ipucloud.clusters.reservations import store
from ipucloud.clusters.steps import build
from ipucloud.clusters.waiting import queue
from ipucloud.clusters.waiting.queue import Waiter
from ipucloud.inventory.placement import Demand, take
from ipucloud.operations.results import Pending
from ipucloud.policies import reservations as follow_reserved
from ipucloud.policies import waiting as serve
from tests.sim import swarm
from tests.sim.mutants.planting import mutant, replace, rewrite
from tests.support.postgres import TEMPLATE, Database, TestServer


def _crowded(stack: ExitStack) -> None:
    """In every history, so that few are needed."""
    replace(stack, swarm, "CROWDED", 1.0)


_WAITS = "tests/feature/clusters/test_waiting_resumes.py"


@mutant("a resume or resize that does not wait overtakes those that do", directed=f"{_WAITS} -k overtake_nobody")
def queue_is_overtaken(stack: ExitStack) -> None:
    async def nobody(*_: Any, **__: Any) -> bool:
        return False

    for module in (resume, resize):
        replace(stack, module, "awaited", nobody)


@mutant(
    "a small cluster gets the room that the first in the queue waits for", directed=f"{_WAITS} -k none_is_overtaken"
)
def head_is_passed_over(stack: ExitStack) -> None:
    honest = serve._serve_one

    async def never_full(*arguments: Any) -> str | None:
        return "quota_exceeded" if await honest(*arguments) else None

    replace(stack, serve, "_serve_one", never_full)


@mutant("a cancelled wait still gets its machines", directed=f"{_WAITS} -k cancelled_wait")
def cancelled_wait_is_served(stack: ExitStack) -> None:
    async def as_asked(*_: Any, **__: Any) -> bool:
        return True

    rewrite(stack, queue, "_QUEUE", ("AND o.state <> 'cancelling'", ""))
    replace(stack, queue, "begin_anew", as_asked)


@mutant("what a resize that waits is to add is left out of the quota", directed=f"{_WAITS} -k quota_counts")
def waits_are_not_counted(stack: ExitStack) -> None:
    rewrite(stack, queue, "_WAITED_FOR", ("greatest(0, waits.machines", "greatest(0, 0 * waits.machines"))


@mutant("a release does not wake the queue", directed=f"{_WAITS} -k wakes_the_queue")
def release_wakes_nobody(stack: ExitStack) -> None:
    honest = TestServer.fresh_database

    @contextmanager
    def without_triggers(server: TestServer, template: str = TEMPLATE) -> Iterator[Database]:
        with honest(server, template) as database:
            with psycopg.connect(database.owner_url, autocommit=True) as connection:
                for table in ("pods", "hosts", "quotas"):
                    connection.execute(f"DROP TRIGGER {table}_wake_those_that_wait ON {table}")
            yield database

    replace(stack, TestServer, "fresh_database", without_triggers)


@mutant(
    "machines and hosts that become free wake nobody who waits for them",
    schema=tuple(f"DROP TRIGGER {table}_wake_those_that_wait ON {table}" for table in ("pods", "hosts", "quotas")),
)
def room_wakes_nobody(stack: ExitStack) -> None:
    _crowded(stack)


@mutant("the queue skips its first")
def first_is_skipped(stack: ExitStack) -> None:
    _crowded(stack)

    async def all_but_the_first(*arguments: Any) -> list[Waiter]:
        return (await queue.waiters(*arguments))[1:]

    replace(stack, serve, "waiters", all_but_the_first)


@mutant("a wait goes on after its time")
def wait_never_ends(stack: ExitStack) -> None:
    _crowded(stack)

    def goes_on(*_: Any, **__: Any) -> Pending:
        return Pending("waiting for capacity", recheck=30.0, blocked=True)

    replace(stack, build, "Failed", goes_on)


@mutant("of a reservation for several clusters only the first block is held")
def one_block_is_held(stack: ExitStack) -> None:
    _crowded(stack)

    async def first(connection: AsyncConnection, demand: Demand) -> Any:
        if demand.reserved is not None and demand.reserved.block == 0:
            return await take(connection, demand)
        return None

    replace(stack, store, "take", first)


@mutant("a cancelled reservation keeps its machines")
def cancelled_reservation_holds_on(stack: ExitStack) -> None:
    _crowded(stack)

    async def nothing(*_: Any, **__: Any) -> int:
        return 0

    replace(stack, store, "let_go", nothing)


@mutant("a reservation is not begun at its time")
def reservation_never_begins(stack: ExitStack) -> None:
    _crowded(stack)

    async def never(*_: Any) -> None:
        return None

    replace(stack, follow_reserved, "_begin", never)


@mutant("a preemptible cluster is suspended as soon as it is told")
def preempted_without_notice(stack: ExitStack) -> None:
    _crowded(stack)
    honest = notices.give_notice

    async def at_once(connection: AsyncConnection, *, notice: timedelta, **of: Any) -> None:
        await honest(connection, notice=0 * notice, **of)

    replace(stack, notices, "give_notice", at_once)


@mutant("a preemptible cluster is told to make room although machines are free, or soon will be")
def preempted_for_nothing(stack: ExitStack) -> None:
    _crowded(stack)
    honest = victims.choose_victims

    def sees_none(pods: Any, usable: Any, *others: Any) -> frozenset[int] | None:
        return honest(pods, [0 for _ in usable], *others)

    replace(stack, plan, "choose_victims", sees_none)
