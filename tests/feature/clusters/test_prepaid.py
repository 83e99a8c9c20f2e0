"""Accounts that pay ahead: what is held is never more than there is, and an empty account is notified once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from ipucloud.billing.bookkeeping import keep_books
from ipucloud.billing.invoices.payments import record_payment
from ipucloud.billing.prepaid.funds import end_prepaid, funds_of, set_prepaid
from ipucloud.billing.prepaid.watch import watch_prepaid
from ipucloud.contract.wallet import FundsOut
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import FUNDS_EXHAUSTED, Problem
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.money import Money
from tests.feature.billing.test_killed import killed_at, using
from tests.support.factories import make_project
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE
from tests.support.world import World
from tests.support.world.clock import stop_clock

pytestmark = pytest.mark.anyio

NOW = datetime.fromisoformat("2026-05-05T10:10:00Z")
HOUR = Decimal("3.75")
"""The first hour of a machine."""
NOTHING = Decimal(0)
ANNOUNCED = "SELECT type FROM events WHERE subject_type = 'account' AND account_id IS NULL ORDER BY transaction, id"


@dataclass
class Payer:
    """A world's own account, which pays ahead; minutes after NOW are its clock."""

    world: World
    set_clock: Callable[[datetime], None]

    async def pay_in(self, amount: Decimal) -> None:
        async with self.world.database.begin() as connection:
            await record_payment(
                connection, self.world.project.id, Money.of(amount, "EUR"), reference=f"test {new_id()}", invoice=None
            )

    async def policy(self, when_empty: str) -> None:
        async with self.world.database.begin() as connection:
            await set_prepaid(connection, self.world.project.id, currency="EUR", when_empty=when_empty)

    def after(self, minutes: float) -> None:
        self.set_clock(NOW + timedelta(minutes=minutes))

    async def funds(self) -> FundsOut:
        async with self.world.database.read() as connection:
            funds = await funds_of(connection, self.world.project.id, currency="EUR")
        taken = funds.outstanding + funds.unbilled + funds.unposted + funds.held + funds.tax
        assert funds.available == funds.wallet + funds.credit - taken
        return funds

    async def amounts(self) -> tuple[Decimal, Decimal, Decimal, Decimal]:
        """Unbilled, unposted, held, available."""
        funds = await self.funds()
        return funds.unbilled.amount, funds.unposted.amount, funds.held.amount, funds.available.amount

    async def holds(self) -> list[str | None]:
        return await self.world.column("SELECT reason FROM create_holds ORDER BY created_at, cluster_id")


@pytest.fixture
def payer(world: World, set_clock: Callable[[datetime], None]) -> Payer:
    set_clock(NOW)
    return Payer(world, set_clock)


async def test_many_creates_at_once_cannot_spend_the_same_money(payer: Payer, database: Scratch) -> None:
    """Money for five first hours, and a cent less than a sixth."""
    await payer.policy("refuse_creates")
    await payer.pay_in(6 * HOUR - Decimal("0.01"))
    crowd = Database(database.app_url, pool_size=10, pool_timeout=PATIENCE)
    world = World(crowd, payer.world.project)
    try:
        ended = await asyncio.gather(*(world.create(f"c{number}") for number in range(30)), return_exceptions=True)
    finally:
        await crowd.close()
    refused = [each for each in ended if isinstance(each, Problem) and each.kind is FUNDS_EXHAUSTED]
    others = [each for each in ended if isinstance(each, BaseException) and each not in refused]
    assert (len(ended) - len(refused), others) == (5, [])
    shown = refused[0].extra["funds"]
    assert isinstance(shown, dict)
    assert shown["needed"] == {"amount": "3.75", "currency": "EUR"}
    assert await payer.amounts() == (NOTHING, NOTHING, 5 * HOUR, HOUR - Decimal("0.01"))
    assert await payer.world.column("SELECT used FROM quotas WHERE used > 0") == [5]


async def test_a_hold_is_used_up_by_the_first_hour(payer: Payer) -> None:
    await payer.policy("refuse_creates")
    await payer.pay_in(Decimal(10))
    accepted = await payer.world.create()
    assert await payer.amounts() == (NOTHING, NOTHING, HOUR, Decimal("6.25"))
    await payer.world.finish_create(accepted.target_id)
    payer.after(20)
    assert await payer.amounts() == (NOTHING, Decimal("1.25"), Decimal("2.50"), Decimal("6.25"))
    payer.after(52)
    await keep_books(payer.world.database)
    assert await payer.holds() == ["posted"]
    assert await payer.amounts() == (Decimal("3.125"), Decimal("0.125"), NOTHING, Decimal("6.75"))
    with pytest.raises(Problem, match="funds_exhausted"):
        await payer.world.create("large", flavor="m2000-pod16")
    await payer.world.create("small")


async def test_a_hold_is_given_back_when_the_cluster_goes_unused(payer: Payer) -> None:
    await payer.policy("refuse_creates")
    await payer.pay_in(HOUR)
    accepted = await payer.world.create()
    with pytest.raises(Problem, match="funds_exhausted"):
        await payer.world.create("ernie")
    await payer.world.delete(accepted.target_id)
    assert await payer.amounts() == (NOTHING, NOTHING, NOTHING, HOUR)
    await payer.world.create("ernie")
    await watch_prepaid(payer.world.database)
    assert await payer.holds() == ["gone", None]


async def test_an_empty_account_is_notified_once_and_once_when_funded_again(payer: Payer) -> None:
    await payer.policy("warn")
    await payer.pay_in(Decimal(1))
    accepted = await payer.world.create()
    await payer.world.finish_create(accepted.target_id)
    assert await payer.holds() == []
    for _ in range(2):
        await watch_prepaid(payer.world.database)
    assert await payer.world.column(ANNOUNCED) == ["account.funds_low"]
    [low] = await payer.world.column("SELECT DISTINCT data ->> 'hours' FROM events WHERE type = 'account.funds_low'")
    assert (low, (await payer.funds()).lasts_until) == ("4", NOW + timedelta(hours=1))
    payer.after(16)
    await asyncio.gather(*(watch_prepaid(payer.world.database) for _ in range(4)))
    payer.after(17)
    await keep_books(payer.world.database)
    assert await payer.world.column(ANNOUNCED) == ["account.funds_low", "account.funds_exhausted"]
    assert (await payer.funds()).state == "empty"
    await payer.world.create("more")
    await payer.policy("refuse_creates")
    with pytest.raises(Problem, match="funds_exhausted"):
        await payer.world.create("refused")
    await payer.pay_in(Decimal(100))
    await payer.world.create("again")
    for _ in range(2):
        await keep_books(payer.world.database)
    events = ["account.funds_low", "account.funds_exhausted", "account.funds_restored"]
    assert await payer.world.column(ANNOUNCED) == events
    async with payer.world.database.begin() as connection:
        assert await end_prepaid(connection, payer.world.project.id)
    assert (await payer.funds()).when_empty is None


def test_a_worker_killed_while_it_watches_leaves_it_to_the_next(database: Scratch) -> None:
    async def prepare(db: Database) -> None:
        stop_clock(database.owner_url, NOW)
        async with db.begin() as connection:
            project = await make_project(connection)
            await set_prepaid(connection, project.id, currency="EUR", when_empty="warn")

    using(database, prepare)
    assert killed_at(database, "prepaid.before_commit", 1)
    for _ in range(2):
        using(database, keep_books)
    assert using(database, lambda db: World(db).column(ANNOUNCED)) == ["account.funds_exhausted"]
