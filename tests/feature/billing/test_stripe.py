"""Top-ups through Stripe: whatever becomes of requests and answers, each is charged once or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from structlog.testing import capture_logs

from ipucloud.billing.invoices.payment_port import Collected, PaymentRefusedError, PendingPayment
from ipucloud.billing.invoices.payments import collect_payments, expect_payment, fail_payment, request_top_up
from ipucloud.contract.wallet import PaymentMethodSet
from ipucloud.db.engine import Database
from ipucloud.extras.stripe.charges import StripePayments
from ipucloud.extras.stripe.client import API_VERSION, AmountRefusedError, StripeClient, smallest_units
from ipucloud.extras.stripe.methods import remove_method, set_method
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.money import Money
from tests.feature.billing.invoices.customers import assert_billing_sound, euros, transact
from tests.feature.billing.test_killed import killed_at
from tests.feature.billing.world import BillingWorld, at, in_billing_world
from tests.support.machine import Need, lack
from tests.support.postgres import Database as Scratch
from tests.support.stripe import SECRET, VERSION, Exchange, Stripe, stripe_at, stripe_beside
from tests.support.stripe_openapi import PUBLISHED, StripeOpenApi

pytestmark = pytest.mark.anyio

NOW = at("2026-05-20T10:00:00")
METHOD = PaymentMethodSet(customer="cus_1", payment_method="pm_1")
PAYMENTS = "SELECT state, failure, amount FROM payments ORDER BY id"


@pytest.fixture(scope="module")
def published() -> StripeOpenApi | None:
    """Without an npm registry there is none."""
    return StripeOpenApi() if PUBLISHED.exists() else None


@pytest.fixture
async def stripe(published: StripeOpenApi | None) -> AsyncIterator[Stripe]:
    """Whatever a test makes the product send, and is answered, is in Stripe's published OpenAPI."""
    async with stripe_at(NOW) as server:
        yield server
    if published is not None:
        assert [fault for each in server.exchanges for fault in published.faults(each)] == []


def test_the_stand_in_and_the_client_speak_the_version_of_the_published_openapi(
    published: StripeOpenApi | None,
) -> None:
    if published is None:
        lack(Need.NPM)
    assert published.version == API_VERSION == VERSION
    unknown = Exchange("POST", "/v1/payment_intents", {"amount": "1", "currency": "eur", "colour": "red"}, None)
    elsewhere = Exchange("GET", "/v1/nothing", {}, None)
    wrong = Exchange("GET", "/v1/payment_intents", {"limit": "ten"}, (200, {"object": "list"}))
    assert all(list(published.faults(each)) for each in (unknown, elsewhere, wrong))


async def top_up(billing: BillingWorld, amount: Money | None = None) -> PendingPayment:
    """A top-up of an account with a saved payment method, as a worker requests it."""
    billing.now(NOW)
    account = billing.project.id
    await transact(billing, lambda connection: set_method(connection, account, METHOD))
    async with billing.database.begin() as connection:
        return await request_top_up(connection, account, amount or euros("200.00"))


def port(billing: BillingWorld, stripe: Stripe, secret: str = SECRET) -> StripePayments:
    return StripePayments(billing.database, StripeClient(stripe.url, secret))


async def turn(billing: BillingWorld, stripe: Stripe, hours: float = 0) -> Any:
    """A worker's turn, `hours` after the top-up was requested; what it made of the payment."""
    billing.now(NOW + timedelta(hours=hours))
    stripe.now = NOW + timedelta(hours=hours)
    await collect_payments(billing.database, port(billing, stripe))
    [row] = await billing.rows(PAYMENTS)
    return row


@pytest.mark.parametrize(
    "faults",
    [
        [],
        ["lost"],
        ["dropped", "lost", "lost"],
        [429, 500, "lost"],
        [409, "dropped"],
        ["lost", 500, 409, 429],
    ],
    ids=str,
)
async def test_a_top_up_is_charged_once(billing: BillingWorld, stripe: Stripe, faults: list[str | int]) -> None:
    await top_up(billing)
    stripe.faults = list(faults)
    for number in range(len(faults)):
        assert (await turn(billing, stripe, hours=number / 2)).state == "pending"
    assert (await turn(billing, stripe, hours=len(faults) / 2)).state == "done"
    assert stripe.collected == [(20_000, "eur")]
    assert len(stripe.intents) == 1
    await assert_billing_sound(billing)


async def test_a_worker_is_killed_anywhere(billing: BillingWorld, stripe: Stripe) -> None:
    """What was written down before Stripe was asked is asked again, whatever was changed meanwhile."""
    payment = await top_up(billing)
    assert await port(billing, stripe).collect(payment) is Collected.DONE  # and the worker never records it
    changed = PaymentMethodSet(customer="cus_2", payment_method="pm_2")
    await transact(billing, lambda connection: set_method(connection, billing.project.id, changed))
    assert (await turn(billing, stripe)).state == "done"
    assert stripe.collected == [(20_000, "eur")]


@pytest.mark.parametrize(
    "point", ["stripe.before_charge_commit", "stripe.after_answer", "invoices.before_payment_commit"]
)
def test_a_worker_killed_while_stripe_collects_charges_once(database: Scratch, point: str) -> None:
    async def request(billing: BillingWorld) -> None:
        await top_up(billing)

    with stripe_beside(NOW) as stripe:

        async def work(db: Database) -> None:
            await collect_payments(db, StripePayments(db, StripeClient(stripe.url, SECRET)))

        async def finish(billing: BillingWorld) -> None:
            assert (await turn(billing, stripe, hours=1)).state == "done"
            await assert_billing_sound(billing)

        asyncio.run(in_billing_world(database, request))
        assert killed_at(database, point, 1, work), "the worker did not come to the point"
        asyncio.run(in_billing_world(database, finish))
        assert stripe.collected == [(20_000, "eur")]


@pytest.mark.parametrize("lost", [False, True], ids=["answered", "lost"])
@pytest.mark.parametrize("card", ["card_declined", "authentication_required"])
async def test_a_declined_card_fails_and_can_not_be_charged_later(
    billing: BillingWorld, stripe: Stripe, card: str, lost: bool
) -> None:
    await top_up(billing)
    stripe.card, stripe.faults = card, ["lost"] if lost else []
    if lost:
        await turn(billing, stripe)
    row = await turn(billing, stripe, hours=1)
    assert row.state == "failed"
    assert f"({card})" in row.failure
    assert row.failure.startswith("Stripe refused it: ")
    assert [each["status"] for each in stripe.intents.values()] == ["canceled"]
    await assert_billing_sound(billing)


async def test_a_payment_that_takes_days(billing: BillingWorld, stripe: Stripe) -> None:
    await top_up(billing)
    stripe.card = "processing"
    for hours in (0, 12, 36, 60):
        assert (await turn(billing, stripe, hours=hours)).state == "pending"
    assert len(stripe.intents) == 1
    stripe.finish_processing("succeeded")
    assert (await turn(billing, stripe, hours=96)).state == "done"
    assert stripe.calls.count(("POST", "/v1/payment_intents")) == 1


@pytest.mark.parametrize("fault", ["lost", "broken"])
async def test_a_charge_is_found_after_stripe_forgot_its_key(billing: BillingWorld, stripe: Stripe, fault: str) -> None:
    payment = await top_up(billing)
    stripe.page, stripe.faults = 1, [fault]
    await turn(billing, stripe)
    for number in range(3):  # others of the customer, which come first in the list
        stripe._charge({"amount": "1", "currency": "eur", "customer": "cus_1", "metadata": {"payment": str(number)}})
    assert (await turn(billing, stripe, hours=26)).state == "done"
    ours = [each for each in stripe.intents.values() if each["metadata"]["payment"] == str(payment.id)]
    assert len(ours) == 1


async def test_a_charge_that_was_never_made_fails_after_a_day(billing: BillingWorld, stripe: Stripe) -> None:
    await top_up(billing)
    stripe.faults = ["dropped"]
    await turn(billing, stripe)
    assert (await turn(billing, stripe, hours=24)).state == "pending"
    row = await turn(billing, stripe, hours=50)
    assert (row.state, row.failure) == ("failed", "Stripe has no record of the payment.")
    assert not stripe.intents


async def test_a_payment_method_that_is_gone(billing: BillingWorld, stripe: Stripe) -> None:
    await top_up(billing)
    stripe.attached.clear()
    row = await turn(billing, stripe)
    assert row.state == "failed"
    assert row.failure == "Stripe refused it: No such PaymentMethod. (resource_missing)"


async def test_a_refusal_after_a_lost_answer_is_no_failure(billing: BillingWorld, stripe: Stripe) -> None:
    await top_up(billing)
    stripe.faults = ["lost"]
    await turn(billing, stripe)
    stripe.keys.clear()
    stripe.attached.clear()
    assert (await turn(billing, stripe, hours=1)).state == "done"
    assert stripe.collected == [(20_000, "eur")]


async def test_a_wrong_key_fails_nothing_and_is_not_logged(billing: BillingWorld, stripe: Stripe) -> None:
    await top_up(billing)
    with capture_logs() as logs:
        await collect_payments(billing.database, port(billing, stripe, secret="sk_test_another"))
    [row] = await billing.rows(PAYMENTS)
    assert row.state == "pending"
    assert [entry["event"] for entry in logs] == ["stripe_unknown"]
    assert "sk_test" not in str(logs)
    assert (await turn(billing, stripe, hours=1)).state == "done"


async def test_nothing_else_is_charged(billing: BillingWorld, stripe: Stripe) -> None:
    """A payment that a person announced is none that Stripe collects; nor is one without a payment method."""
    billing.now(NOW)
    account = billing.project.id
    await transact(billing, lambda connection: set_method(connection, account, METHOD))
    await transact(billing, lambda connection: expect_payment(connection, account, euros("5.00")))
    assert (await turn(billing, stripe)).state == "pending"
    await transact(billing, lambda connection: remove_method(connection, account))
    async with billing.database.begin() as connection:
        payment = await request_top_up(connection, account, euros("5.00"))
    assert await port(billing, stripe).collect(payment) is Collected.UNKNOWN
    assert not stripe.calls


async def test_an_operator_does_not_fail_what_stripe_was_asked_for(billing: BillingWorld, stripe: Stripe) -> None:
    payment = await top_up(billing)
    stripe.card = "processing"
    await turn(billing, stripe)
    account = billing.project.id
    with pytest.raises(Problem, match="may still do so"):
        await transact(billing, lambda connection: fail_payment(connection, account, payment.id, reason="no"))
    billing.now(NOW + timedelta(hours=49))
    await transact(billing, lambda connection: fail_payment(connection, account, payment.id, reason="no"))


@pytest.mark.parametrize(
    ("amount", "currency", "units"),
    [
        ("12.34", "EUR", 1234),
        ("500", "JPY", 500),
        ("5.120", "KWD", 5120),
        ("5", "ISK", 500),
        ("5", "UGX", 500),
        ("7.00", "MGA", 7),
    ],
)
def test_amounts_in_the_smallest_unit(amount: str, currency: str, units: int) -> None:
    assert smallest_units(Money.of(Decimal(amount), currency)) == units


@pytest.mark.parametrize(
    ("amount", "currency", "why"),
    [
        ("5.124", "KWD", "Stripe collects KWD in steps of 0.010 only."),
        ("7.50", "MGA", "Stripe collects MGA in steps of 1 only."),
        ("1.000", "LYD", "Stripe does not collect LYD."),
    ],
)
async def test_amounts_that_stripe_cannot_collect(
    billing: BillingWorld, stripe: Stripe, amount: str, currency: str, why: str
) -> None:
    money = Money.of(Decimal(amount), currency)
    with pytest.raises(AmountRefusedError, match=why):
        smallest_units(money)
    payment = (await top_up(billing))._replace(amount=money.amount, currency=currency)
    with pytest.raises(PaymentRefusedError, match=why):
        await port(billing, stripe).collect(payment)
    assert not stripe.calls
