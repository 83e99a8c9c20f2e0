"""Automatic top-ups: one at a time, up to a month's limit, and none after one that failed."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from ipucloud.billing.invoices.payment_port import Collected, PendingPayment
from ipucloud.billing.invoices.payments import collect_payments, fail_payment, record_refund
from ipucloud.billing.prepaid.funds import end_prepaid, set_prepaid
from ipucloud.billing.prepaid.top_ups import end_top_up, set_top_up, shown_policy
from ipucloud.billing.prepaid.watch import watch_prepaid
from ipucloud.contract.wallet import TopUpOut, TopUpPolicy
from ipucloud.db.engine import Database
from ipucloud.kernel.errors import Problem
from tests.feature.billing.invoices.customers import assert_billing_sound, euros, paid, transact
from tests.feature.billing.test_killed import killed_at
from tests.feature.billing.world import BillingWorld, at, in_billing_world
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

NOW = at("2026-05-20T10:00:00")
EVENTS = "SELECT type, data FROM events WHERE type LIKE 'account.top%' AND account_id IS NULL ORDER BY transaction, id"
TOP_UPS = "SELECT id, reference, state FROM payments WHERE automatic ORDER BY created_at, id"
BY_MONEY = TopUpPolicy(amount=euros("10.00"), below=euros("5.00"), month_limit=euros("25.00"))
BY_HOURS = TopUpPolicy(amount=euros("10.00"), below_hours=4, month_limit=euros("25.00"))


class Provider:
    """A payment provider: what it charged by reference, and the answer that it gives from now on."""

    def __init__(self, answer: Collected = Collected.DONE) -> None:
        self.answer = answer
        self.charged: dict[str, Decimal] = {}

    async def collect(self, payment: PendingPayment) -> Collected:
        if self.answer is not Collected.FAILED:
            self.charged[payment.reference] = payment.amount
        return self.answer


async def prepare(billing: BillingWorld) -> None:
    """A prepaid account with 5.00, the level of its policy."""
    billing.now(NOW)
    account = billing.project.id
    await paid(billing, "5.00", "first")
    await transact(billing, lambda connection: set_prepaid(connection, account, currency="EUR", when_empty="warn"))
    await transact(billing, lambda connection: set_top_up(connection, account, BY_MONEY))


async def work(database: Database, provider: Provider) -> None:
    """What a worker does every minute: a top-up is requested, collected and reported."""
    await watch_prepaid(database)
    await collect_payments(database, provider)
    await watch_prepaid(database)


async def notifications(billing: BillingWorld) -> list[str]:
    return [row.type.removeprefix("account.") for row in await billing.rows(EVENTS)]


async def shown(billing: BillingWorld) -> TopUpOut:
    async with billing.database.read() as connection:
        policy = await shown_policy(connection, billing.project.id)
    assert policy is not None
    return policy


async def drain(billing: BillingWorld, reference: str) -> None:
    account = billing.project.id
    await transact(billing, lambda connection: record_refund(connection, account, euros("10.00"), reference=reference))


async def test_one_top_up_at_a_time_within_the_months_limit(billing: BillingWorld) -> None:
    await prepare(billing)
    provider = Provider(Collected.UNKNOWN)
    for minutes in (0, 5):
        billing.now(NOW + timedelta(minutes=minutes))
        await work(billing.database, provider)
    [open_one] = await billing.rows(TOP_UPS)
    assert (await notifications(billing), list(provider.charged)) == (["top_up_requested"], [open_one.reference])
    assert (await shown(billing)).reference == open_one.reference
    provider.answer = Collected.DONE
    for day in (21, 22):
        billing.now(at(f"2026-05-{day}T10:00:00"))
        for _ in range(2):
            await work(billing.database, provider)
        await drain(billing, f"refund {day}")
    for _ in range(2):
        await work(billing.database, provider)
    twice = ["top_up_requested", "topped_up"] * 2
    assert await notifications(billing) == [*twice, "top_up_paused"]
    policy = await shown(billing)
    assert (policy.pause_reason, policy.reference, policy.this_month) == ("month_limit", None, euros("20.00"))
    billing.now(at("2026-06-01T00:00:00"))
    await work(billing.database, provider)
    assert await notifications(billing) == [*twice, "top_up_paused", "top_up_resumed", "top_up_requested", "topped_up"]
    assert [row.state for row in await billing.rows(TOP_UPS)] == ["done"] * len(provider.charged) == ["done"] * 3
    await assert_billing_sound(billing)


async def test_a_failure_pauses_until_a_person_or_a_payment_resumes(billing: BillingWorld) -> None:
    await prepare(billing)
    account, provider = billing.project.id, Provider(Collected.FAILED)
    for _ in range(2):
        await work(billing.database, provider)
    so_far = ["top_up_requested", "top_up_paused"]
    assert await notifications(billing) == so_far
    [_, why] = [row.data for row in await billing.rows(EVENTS)]
    [failed] = await billing.rows(TOP_UPS)
    assert why["detail"] == f"The top-up {failed.reference} failed. The payment provider refused it."
    assert ((await shown(billing)).pause_reason, (await shown(billing)).this_month) == ("payment_failed", euros("0.00"))
    await billing.price("0.0625")
    await billing.used(await billing.make_cluster(), NOW)  # 3.75 an hour
    await transact(billing, lambda connection: set_top_up(connection, account, BY_HOURS))
    billing.now(NOW + timedelta(minutes=1))
    provider.answer = Collected.UNKNOWN
    await work(billing.database, provider)
    so_far += ["top_up_resumed", "top_up_requested"]
    assert await notifications(billing) == so_far
    [_, late] = await billing.rows(TOP_UPS)
    for _ in range(2):
        await transact(billing, lambda connection: fail_payment(connection, account, late.id, reason="card expired"))
    with pytest.raises(Problem, match="state_conflict"):
        await transact(billing, lambda connection: fail_payment(connection, account, late.id, reason="another"))
    await work(billing.database, provider)
    billing.now(NOW + timedelta(minutes=2))
    await paid(billing, "100.00", "by bank")
    await work(billing.database, provider)
    assert await notifications(billing) == [*so_far, "top_up_paused", "top_up_resumed"]
    assert (await shown(billing)).paused_at is None
    await assert_billing_sound(billing)


async def test_a_policy_that_is_set_anew_waits_for_the_top_up_under_way(billing: BillingWorld) -> None:
    await prepare(billing)
    account, provider = billing.project.id, Provider(Collected.UNKNOWN)
    await work(billing.database, provider)
    assert await transact(billing, lambda connection: end_prepaid(connection, account))
    assert not await transact(billing, lambda connection: end_top_up(connection, account))
    with pytest.raises(Problem, match="state_conflict"):
        await transact(billing, lambda connection: set_top_up(connection, account, BY_MONEY))
    await transact(billing, lambda connection: set_prepaid(connection, account, currency="EUR", when_empty="warn"))
    await transact(billing, lambda connection: set_top_up(connection, account, BY_MONEY))
    provider.answer = Collected.DONE
    billing.now(NOW + timedelta(minutes=5))
    await work(billing.database, provider)
    assert await notifications(billing) == ["top_up_requested", "topped_up"]
    assert len(await billing.rows(TOP_UPS)) == len(provider.charged) == 1


@pytest.mark.parametrize(
    ("point", "hit"),
    [("prepaid.before_top_up_commit", 1), ("invoices.before_payment_commit", 1), ("prepaid.before_top_up_commit", 2)],
)
def test_a_worker_killed_while_it_tops_up_leaves_it_to_the_next(database: Scratch, point: str, hit: int) -> None:
    async def finish(billing: BillingWorld) -> None:
        billing.now(NOW + timedelta(minutes=1))
        await asyncio.gather(*(work(billing.database, Provider()) for _ in range(3)))
        assert await notifications(billing) == ["top_up_requested", "topped_up"]
        assert [row.state for row in await billing.rows(TOP_UPS)] == ["done"]
        await assert_billing_sound(billing)

    asyncio.run(in_billing_world(database, prepare))
    assert killed_at(database, point, hit, lambda db: work(db, Provider())), "the worker did not come to the point"
    asyncio.run(in_billing_world(database, finish))
