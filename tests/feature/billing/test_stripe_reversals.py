"""Payments that Stripe takes back: found without a message of Stripe, told, and reversed once and exactly."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from ipucloud.billing.invoices.payments import collect_payments, record_payment, record_refund
from ipucloud.billing.invoices.reversals import reverse_payment, taken_back
from ipucloud.billing.prepaid.funds import prepaid_facts, set_prepaid
from ipucloud.billing.prepaid.top_ups import pause_after_reversal, set_top_up, shown_policy
from ipucloud.billing.prepaid.watch import watch_prepaid
from ipucloud.contract.wallet import TopUpPolicy
from ipucloud.db.engine import Database
from ipucloud.extras.stripe.client import StripeClient
from ipucloud.extras.stripe.reversals import LOOK_BACK_DAYS, find_reversals
from ipucloud.invariants.billing_invoices import REVERSED
from ipucloud.invariants.rules import violations
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money
from tests.feature.billing.invoices.customers import assert_billing_sound, balances, euros, transact
from tests.feature.billing.test_killed import killed_at
from tests.feature.billing.test_stripe import NOW, port, top_up
from tests.feature.billing.world import BillingWorld, in_billing_world
from tests.support.postgres import Database as Scratch
from tests.support.stripe import SECRET, Stripe, stripe_at, stripe_beside
from tests.support.stripe_openapi import PUBLISHED, StripeOpenApi

pytestmark = pytest.mark.anyio

TOLD = "SELECT type, data, account_id IS NOT NULL AS payers, operators FROM events WHERE type LIKE 'payment.rever%'"


@pytest.fixture
async def stripe() -> AsyncIterator[Stripe]:
    """As in `test_stripe`, whatever is sent and answered is in Stripe's published OpenAPI, where that is."""
    async with stripe_at(NOW) as server:
        yield server
    if PUBLISHED.exists():
        published = StripeOpenApi()
        assert [fault for each in server.exchanges for fault in published.faults(each)] == []


async def charged(billing: BillingWorld, stripe: Stripe) -> UUID:
    """A top-up of 200.00 that came in through Stripe."""
    payment = await top_up(billing)
    await collect_payments(billing.database, port(billing, stripe))
    return payment.id


async def look(billing: BillingWorld, stripe: Stripe, days: float = 0) -> int:
    billing.now(NOW + timedelta(days=days))
    return await find_reversals(billing.database, StripeClient(stripe.url, SECRET))


async def reverse(billing: BillingWorld, payment: UUID, reference: str, amount: Money) -> None:
    account = billing.project.id
    await transact(
        billing, lambda connection: reverse_payment(connection, account, payment, amount, reference=reference)
    )


async def wallet(billing: BillingWorld) -> str:
    return (await balances(billing)).get("wallet", "0.00")


async def told(billing: BillingWorld) -> list[tuple[str, Any]]:
    """What payers were told, each of which operators were told too but for what they did themselves."""
    rows = list(await billing.rows(f"{TOLD} ORDER BY transaction, id"))
    payers = [(row.type, row.data) for row in rows if row.payers]
    assert [each for each in payers if each[0] != "payment.reversed"] == [
        (row.type, row.data) for row in rows if row.operators
    ]
    return payers


async def overdue(billing: BillingWorld) -> list[str]:
    async with billing.database.read() as connection:
        return [each.detail for each in await violations(connection, REVERSED)]


async def test_a_refund_in_stripes_dashboard_is_told_once_and_leaves_the_wallet(
    billing: BillingWorld, stripe: Stripe
) -> None:
    payment = await charged(billing, stripe)
    assert await look(billing, stripe) == 0
    refund = stripe.refund(5_050)
    assert [await look(billing, stripe, days) for days in (1, 1, 2)] == [1, 0, 0]
    [(name, data)] = await told(billing)
    assert (name, data["amount"], data["reversal"]) == (
        "payment.reversal_found",
        {"amount": "50.50", "currency": "EUR"},
        refund,
    )
    assert await wallet(billing) == "200.00"
    assert [refund in each for each in await overdue(billing)] == [True]
    async with billing.database.read() as connection:
        assert await taken_back(connection, payment, refund) == euros("50.50")
    for _ in range(2):
        await reverse(billing, payment, refund, euros("50.50"))
    assert await wallet(billing) == "149.50"
    assert [name for name, _ in await told(billing)] == ["payment.reversal_found", "payment.reversed"]
    [row] = await billing.rows("SELECT direction, amount, to_wallet FROM payments WHERE reverses IS NOT NULL")
    assert (row.direction, str(row.amount), str(row.to_wallet)) == ("out", "50.5000000000", "-50.5000000000")
    await assert_billing_sound(billing)


async def test_a_dispute_weeks_later_empties_a_wallet_that_was_spent(billing: BillingWorld, stripe: Stripe) -> None:
    payment, account = await charged(billing, stripe), billing.project.id
    await transact(billing, lambda connection: set_prepaid(connection, account, currency="EUR", when_empty="warn"))
    policy = TopUpPolicy(amount=euros("200.00"), below=euros("5.00"), month_limit=euros("2000.00"))
    await transact(billing, lambda connection: set_top_up(connection, account, policy))
    await transact(billing, lambda connection: record_refund(connection, account, euros("150.00"), reference="spent"))
    stripe.now = NOW + timedelta(days=50)
    dispute = stripe.dispute()
    assert await look(billing, stripe, days=51) == 1
    await reverse(billing, payment, dispute, euros("200.00"))
    await transact(billing, lambda connection: pause_after_reversal(connection, account, "TOP-1"))
    assert await wallet(billing) == "-150.00"
    await assert_billing_sound(billing)
    await watch_prepaid(billing.database)
    async with billing.database.read() as connection:
        [facts] = await prepaid_facts(connection)
        shown = await shown_policy(connection, account)
    assert facts.standing.state == "empty"
    # The card is not charged again for it.
    assert shown is not None
    assert (shown.pause_reason, await billing.rows("SELECT FROM payments WHERE state = 'pending'")) == (
        "payment_failed",
        [],
    )
    with pytest.raises(Problem, match="refund at most"):
        await transact(billing, lambda connection: record_refund(connection, account, euros("1.00"), reference="more"))
    await transact(
        billing,
        lambda connection: record_payment(connection, account, euros("180.00"), reference="bank", invoice=None),
    )
    assert await wallet(billing) == "30.00"
    await assert_billing_sound(billing)


async def test_a_dispute_that_is_won_after_weeks_comes_back(billing: BillingWorld, stripe: Stripe) -> None:
    payment, account = await charged(billing, stripe), billing.project.id
    dispute = stripe.dispute()
    await look(billing, stripe, days=1)
    await reverse(billing, payment, dispute, euros("200.00"))
    stripe.reversals[dispute]["status"] = "under_review"
    assert await look(billing, stripe, days=2) == 0
    stripe.reversals[dispute]["status"] = "won"
    assert await look(billing, stripe, days=LOOK_BACK_DAYS + 30) == 1
    assert [name for name, _ in await told(billing)][-1] == "payment.reversal_withdrawn"
    assert len(await overdue(billing)) == 1
    with pytest.raises(Problem, match="Reverse nothing"):
        await transact(billing, lambda connection: taken_back(connection, payment, dispute))
    await transact(
        billing,
        lambda connection: record_payment(
            connection, account, euros("200.00"), reference=f"{dispute}-returned", invoice=None
        ),
    )
    assert await wallet(billing) == "200.00"
    await assert_billing_sound(billing)
    asked = len(stripe.calls)
    assert await look(billing, stripe, days=LOOK_BACK_DAYS + 31) == 0
    assert stripe.calls[asked:] == [("GET", "/v1/refunds"), ("GET", "/v1/disputes")]


async def test_what_takes_no_money_is_not_told(billing: BillingWorld, stripe: Stripe) -> None:
    """An inquiry, a refund that failed before it was seen, and what is of another PaymentIntent."""
    await charged(billing, stripe)
    stripe.dispute("warning_needs_response")
    stripe.refund(100, "failed")
    stripe.reversals[stripe.refund(100)]["payment_intent"] = "pi_of_somebody_else"
    assert await look(billing, stripe, days=1) == 0
    assert await told(billing) == []
    await assert_billing_sound(billing)


async def test_stripe_that_does_not_answer_is_asked_again(billing: BillingWorld, stripe: Stripe) -> None:
    await charged(billing, stripe)
    stripe.page = 1
    refunds = [stripe.refund(100) for _ in range(3)]
    with capture_logs() as logs:
        assert await find_reversals(billing.database, StripeClient(stripe.url, "sk_test_another")) == 0
    assert [entry["event"] for entry in logs] == ["stripe_reversals_unread"]
    assert "sk_test" not in str(logs)
    assert await look(billing, stripe, days=1) == len(refunds)


async def test_without_a_charge_stripe_is_asked_nothing(billing: BillingWorld, stripe: Stripe) -> None:
    assert await look(billing, stripe) == 0
    assert stripe.calls == []


async def test_no_more_is_reversed_than_came_in(billing: BillingWorld, stripe: Stripe) -> None:
    payment = await charged(billing, stripe)
    await reverse(billing, payment, "re_1", euros("150.00"))
    for amount, reference, why in (
        ("50.01", "re_2", r"50.00 EUR of TOP-\w+ is not reversed yet"),
        ("1.00", "re_1", "Another payment has the reference re_1"),
    ):
        with pytest.raises(Problem, match=why):
            await reverse(billing, payment, reference, euros(amount))
    with pytest.raises(Problem, match="is in EUR"):
        await reverse(billing, payment, "re_2", Money.of("1", "JPY"))
    [reversal] = await billing.rows("SELECT id FROM payments WHERE reverses IS NOT NULL")
    with pytest.raises(Problem, match="no payment that came in"):
        await reverse(billing, reversal.id, "re_3", euros("1.00"))
    await asyncio.gather(*(reverse(billing, payment, "re_4", euros("50.00")) for _ in range(5)))
    assert await wallet(billing) == "0.00"
    await assert_billing_sound(billing)


def test_a_worker_killed_before_it_has_told_tells_once(database: Scratch) -> None:
    with stripe_beside(NOW) as stripe:

        async def pay(billing: BillingWorld) -> None:
            await charged(billing, stripe)
            stripe.refund(100)

        async def find(db: Database) -> None:
            await find_reversals(db, StripeClient(stripe.url, SECRET))

        async def finish(billing: BillingWorld) -> None:
            assert await told(billing) == []
            assert [await look(billing, stripe), await look(billing, stripe)] == [1, 0]
            assert len(await told(billing)) == 1

        asyncio.run(in_billing_world(database, pay))
        assert killed_at(database, "stripe.before_reversal_commit", 1, find), "the worker did not come to the point"
        asyncio.run(in_billing_world(database, finish))
