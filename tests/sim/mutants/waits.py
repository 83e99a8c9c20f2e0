"""Bugs in the queue of those that wait for capacity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import psycopg

from ipucloud.clusters.operations import resize, resume
from ipucloud.clusters.waiting import queue, serve
from tests.sim.mutants.planting import mutant, replace, rewrite
from tests.support.postgres import TEMPLATE, Database, TestServer

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
        with honest(server, template) as made:
            with psycopg.connect(made.owner_url, autocommit=True) as connection:
                for table in ("pods", "hosts", "quotas"):
                    connection.execute(f"DROP TRIGGER {table}_wake_those_that_wait ON {table}")
            yield made

    replace(stack, TestServer, "fresh_database", without_triggers)
