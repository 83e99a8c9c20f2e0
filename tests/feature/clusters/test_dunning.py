"""Overdue invoices: reminders once for each level, and restrictions of the account until they are paid."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from ipucloud.billing.dunning.store import dunning_of, end_dunning, set_dunning
from ipucloud.billing.dunning.watch import watch_overdue
from ipucloud.billing.invoices.payments import record_payment
from ipucloud.contract.accounts import DunningPolicy
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import PAYMENT_OVERDUE, Problem
from ipucloud.kernel.money import Money
from ipucloud.policies.spend_stops import suspend_unpaid
from tests.feature.billing.test_killed import killed_at, using
from tests.support.factories import make_project
from tests.support.invoices import make_invoice
from tests.support.postgres import Database as Scratch
from tests.support.world import World
from tests.support.world.clock import stop_clock

pytestmark = pytest.mark.anyio

ISSUED = datetime.fromisoformat("2026-05-05T10:10:00Z")
DUE = "SELECT due_on FROM invoices"
EVENTS = "SELECT type FROM events WHERE type ~ 'overdue|restrict' AND account_id IS NULL ORDER BY transaction, id"
FORCED = "SELECT data FROM events WHERE type = 'cluster.suspend_forced'"
STATES = "SELECT name || ' ' || state FROM clusters ORDER BY name"
POLICY = DunningPolicy(remind_after=[1, 8], refuse_creates_after=10, suspend_after=20)


async def test_an_overdue_account_is_reminded_then_restricted_until_it_pays(
    world: World, set_clock: Callable[[datetime], None]
) -> None:
    world.broken_on_purpose.add("month_is_sealed_in_time")
    set_clock(ISSUED)
    account = world.project.id
    async with world.database.begin() as connection:
        number = await make_invoice(connection, account)
        await set_dunning(connection, account, POLICY)
    [due_on] = await world.column(DUE)

    async def overdue(days: int) -> tuple[list[str], int]:
        """What was reported until then, and how many clusters are suspended then; by three workers at once."""
        set_clock(datetime.combine(due_on, datetime.min.time(), ISSUED.tzinfo) + timedelta(days=days))
        await asyncio.gather(*(watch_overdue(world.database) for _ in range(3)))
        stopped = await asyncio.gather(*(suspend_unpaid(world.database, world.settings) for _ in range(3)))
        return await world.column(EVENTS), sum(stopped)

    bert = await world.make_active("bert")
    assert await overdue(0) == ([], 0)
    assert await overdue(1) == (["invoice.overdue"], 0)
    events = ["invoice.overdue"] * 2
    assert await overdue(9) == (events, 0)
    [reminder] = await world.column(
        "SELECT DISTINCT data FROM events WHERE type = 'invoice.overdue' AND data ->> 'level' = '8'"
    )
    outstanding = {"amount": "17.55", "currency": "EUR"}
    assert reminder == {"number": number, "due_on": str(due_on), "level": 8, "outstanding": outstanding}
    await world.delete((await world.create("elmo")).target_id)
    events.append("account.restricted")
    assert await overdue(10) == (events, 0)
    with pytest.raises(Problem) as refusal:
        await world.create("ernie")
    assert refusal.value.kind is PAYMENT_OVERDUE
    assert refusal.value.extra["invoice"] == {"number": number, "due_on": str(due_on), "outstanding": outstanding}
    events.append("account.restricted")
    assert await overdue(20) == (events, 1)
    assert await world.column(FORCED) == [{"reason": "overdue", "account": str(account), "invoice": number}]
    await world.finish_suspend(bert)
    with pytest.raises(Problem, match="payment_overdue"):
        await world.resume(bert)
    async with world.database.begin() as connection:
        dunning = await dunning_of(connection, account, currency="EUR")
        assert (dunning.restriction, str(dunning.overdue), dunning.overdue_since) == ("suspend", "17.55 EUR", due_on)
        await record_payment(connection, account, Money.of("17.55", "EUR"), reference="paid", invoice=number)
    await world.resume(bert)
    events.append("account.restriction_lifted")
    assert await overdue(21) == (events, 0)
    async with world.database.begin() as connection:
        assert await end_dunning(connection, account)
        assert not await end_dunning(connection, account)
    assert await world.column(EVENTS) == events


def test_a_worker_killed_while_it_reminds_leaves_it_to_the_next(database: Scratch) -> None:
    async def prepare(db: Database) -> None:
        stop_clock(database.owner_url, ISSUED)
        async with db.begin() as connection:
            project = await make_project(connection)
            await make_invoice(connection, project.id)
            await set_dunning(connection, project.id, POLICY)
        due_on = await World(db, project).value(DUE)
        later = datetime.combine(due_on + timedelta(days=30), datetime.min.time(), ISSUED.tzinfo)
        stop_clock(database.owner_url, later)

    async def watch(db: Database) -> None:
        await watch_overdue(db)

    using(database, prepare)
    assert killed_at(database, "dunning.before_commit", 1, watch)
    for _ in range(2):
        using(database, watch)
    assert using(database, lambda db: World(db).column(EVENTS)) == ["invoice.overdue", "account.restricted"]
