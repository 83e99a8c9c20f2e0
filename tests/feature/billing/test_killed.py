"""A worker killed anywhere while it keeps the books: the next one ends with the books of one that was not."""

from __future__ import annotations

import asyncio
import os
import runpy
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.db.engine import Database
from ipucloud.kernel.failpoints import Action, Armed, Trap, arm
from tests.feature.billing.world import BillingWorld, at, in_billing_world
from tests.support.postgres import Database as Scratch

Result = TypeVar("Result")
DOCS = Path(__file__).parents[3] / "docs"
FAMILIES = ("close.", "correct.", "months.")
POINTS = [name for name in runpy.run_path(str(DOCS / "generate_failpoints.py"))["names"]() if name.startswith(FAMILIES)]
NOW = at("2026-05-02T01:30:00")
# Nothing that differs from one database to the next.
FIGURES = (
    "SELECT billing_month, hour, first_minute, rev, minutes, quantity, unit_price, cost FROM usage_charges"
    " ORDER BY hour, first_minute, rev, quantity, minutes",
    "SELECT kind, amount, effective_at FROM ledger_transfers ORDER BY effective_at, kind, amount",
    "SELECT code, debits, credits FROM ledger_accounts ORDER BY code",
    "SELECT hour, charges, revision, verified_at IS NOT NULL FROM hour_closes ORDER BY hour",
    "SELECT month, sealed_at IS NOT NULL FROM billing_months ORDER BY month",
    "SELECT hour FROM dirty_hours",
)


async def prepare(billing: BillingWorld) -> None:
    """Hours of April were closed; one fact of them came late, hours of May are due, and April is to be sealed."""
    await billing.price("0.0625", valid_to=at("2026-04-30T22:30:00"))
    await billing.price("0.0700", at("2026-04-30T22:30:00"))
    first, second = await billing.make_cluster(), await billing.make_cluster()
    interval = await billing.used(first, at("2026-04-30T21:10:10"), quantity=4)
    await billing.used(second, at("2026-04-30T22:00:00"), at("2026-05-02T00:20:20"))
    await billing.keep(at("2026-04-30T23:30:00"))
    await billing.execute("UPDATE usage_intervals SET ended_at = '2026-04-30T22:15:00Z' WHERE id = :id", id=interval)
    billing.now(NOW)


async def figures(billing: BillingWorld) -> list[list[tuple[object, ...]]]:
    return [await billing.tuples(statement) for statement in FIGURES]


async def finish(billing: BillingWorld) -> list[list[tuple[object, ...]]]:
    await keep_books(billing.database)
    return await figures(billing)


def using(scratch: Scratch, work: Callable[[Database], Awaitable[Result]]) -> Result:
    """What the work comes to, on connections of its own, in this process."""

    async def run() -> Result:
        database = Database(scratch.app_url, pool_size=2)
        try:
            return await work(database)
        finally:
            await database.close()

    return asyncio.run(run())


def killed_at(scratch: Scratch, point: str, hit: int, work: Callable[[Database], Awaitable[None]] = keep_books) -> bool:
    """Do the work in another process, which is killed at the point; whether it came to it."""
    child = os.fork()
    if child == 0:
        try:
            arm(Armed([Trap(point, hit, Action.KILL)], lambda _: None))
            asyncio.run(_run(scratch, work))
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


async def _run(scratch: Scratch, work: Callable[[Database], Awaitable[None]]) -> None:
    await work(Database(scratch.app_url, pool_size=3))


def undisturbed(scratch: Scratch) -> list[list[tuple[object, ...]]]:
    async def work(billing: BillingWorld) -> list[list[tuple[object, ...]]]:
        await prepare(billing)
        return await finish(billing)

    rows: list[list[tuple[object, ...]]] = asyncio.run(in_billing_world(scratch, work))
    return rows


@pytest.fixture(scope="module")
def expected(postgres: Any) -> list[list[tuple[object, ...]]]:
    with postgres.fresh_database() as scratch:
        rows = undisturbed(scratch)
    charges, _, accounts, hours, months, dirty = rows
    assert any(int(str(row[3])) > 0 for row in charges)
    assert len(accounts) == 2
    assert len(hours) == 28
    assert months[0][1]
    assert dirty == []
    return rows


@pytest.mark.parametrize("point", POINTS)
def test_bookkeeping_is_done_once(database: Scratch, expected: list[list[tuple[object, ...]]], point: str) -> None:
    asyncio.run(in_billing_world(database, prepare))
    hit = 2 if point.startswith("close.") else 1
    assert killed_at(database, point, hit), "the worker did not come to the point"
    assert asyncio.run(in_billing_world(database, finish)) == expected


def test_a_worker_that_comes_beside_another_changes_nothing(database: Scratch) -> None:
    """Two keep the books at once; whatever each of them gets to do, together they do it once."""

    async def work(billing: BillingWorld) -> list[list[tuple[object, ...]]]:
        await prepare(billing)
        await asyncio.gather(*(keep_books(billing.database) for _ in range(2)), return_exceptions=True)
        return await finish(billing)

    with_two = asyncio.run(in_billing_world(database, work))
    assert with_two[5] == []
    assert len(with_two[3]) == 28
