"""When messages are sent, sent again and given up, by the worker's engine, in the database's time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import orjson
import psycopg
import pytest

from ipucloud.contract.webhooks import WebhookPatch
from ipucloud.webhooks import store
from ipucloud.webhooks.schedule import PAUSES
from tests.feature.webhooks.customer import SUBJECT, Customer, messages, tried, until
from tests.support.postgres import Database as Scratch
from tests.support.receiver import Receiver, receiving
from tests.support.world.clock import shift_clock, start_clock, stop_clock

pytestmark = pytest.mark.anyio


async def test_ten_tries_over_three_days_under_one_id_then_the_end_point_is_given_up(
    customer: Customer, receiver: Receiver
) -> None:
    receiver.status = 503
    await customer.hook(receiver, "cluster.*")
    now = datetime(2126, 3, 1, 12, tzinfo=UTC)
    stop_clock(customer.scratch.owner_url, now)
    await customer.emit()
    async with customer.worker():
        for tries, pause in enumerate((*PAUSES, 0.0), start=1):
            await until(partial(tried, customer, tries))
            now += timedelta(seconds=pause * 0.89)
            stop_clock(customer.scratch.owner_url, now)
            assert await customer.tries() == tries
            now += timedelta(seconds=pause * 0.22)
            stop_clock(customer.scratch.owner_url, now)
        await until(lambda: customer.value("SELECT disabled = 'failing' FROM webhooks"))
    start_clock(customer.scratch.owner_url)
    assert (await customer.tries(), len(receiver.got)) == (10, 10)
    assert len({got.headers["webhook-id"] for got in receiver.got}) == 1
    assert len({got.headers["webhook-timestamp"] for got in receiver.got}) == 10
    assert await customer.value("SELECT state FROM webhook_deliveries") == "failed"
    assert await customer.value("SELECT data ->> 'reason' FROM events WHERE type = 'webhook.disabled'") == "failing"


async def test_a_success_between_ends_the_count_and_410_ends_everything(customer: Customer, receiver: Receiver) -> None:
    receiver.script = [500, 200, 410]
    webhook = await customer.hook(receiver, "cluster.*")
    async with customer.worker():
        await customer.emit()
        await until(lambda: customer.value("SELECT failing_since IS NOT NULL FROM webhooks"))
        await customer.emit()
        await until(lambda: customer.value("SELECT failing_since IS NULL FROM webhooks"))
        await customer.emit()
        await until(lambda: customer.value("SELECT disabled = 'gone' FROM webhooks"))
        states = await customer.value("SELECT array_agg(state ORDER BY state) FROM webhook_deliveries")
        assert states == ["delivered", "failed", "failed"]
        await customer.emit()  # nobody hears of it, now or later
        async with customer.database.begin() as connection:
            await store.update(connection, customer.home, webhook.id, WebhookPatch(enabled=True), None, if_match=None)
        await customer.emit("cluster.active")
        await until(lambda: len(receiver.got) >= 4)
    assert orjson.loads(receiver.got[3].body)["type"] == "cluster.active"


async def test_who_is_busy_says_when_to_come_again(customer: Customer, receiver: Receiver) -> None:
    receiver.status, receiver.retry_after = 429, "600"
    await customer.hook(receiver, "cluster.*")
    async with customer.worker():
        await customer.emit()
        await until(partial(tried, customer, 1))
    pause = "SELECT extract(epoch FROM next_at - CAST(log -> 0 ->> 'at' AS timestamptz))::int FROM webhook_deliveries"
    assert await customer.value(pause) == 600


async def test_a_date_that_no_calendar_holds_asks_for_nothing_and_the_attempt_counts(
    customer: Customer, receiver: Receiver
) -> None:
    receiver.status, receiver.retry_after = 503, "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"
    await customer.hook(receiver, "cluster.*")
    async with customer.worker():
        await customer.emit()
        await until(partial(tried, customer, 1))
    assert len(receiver.got) == 1
    assert await customer.value("SELECT bool_and(next_at < app_now() + interval '1 minute') FROM webhook_deliveries")


async def test_events_committed_late_are_delivered_too(customer: Customer, receiver: Receiver) -> None:
    await customer.hook(receiver, "cluster.*")
    write = (
        "INSERT INTO events (project_id, type, subject_type, subject_id) VALUES (%s, 'cluster.deleting', 'cluster', %s)"
    )
    async with customer.worker():
        async with await psycopg.AsyncConnection.connect(customer.scratch.app_url) as late:
            await late.execute(write, (customer.project.id, SUBJECT))
            for _ in range(3):
                await customer.emit("cluster.active", shown=False)
            await customer.value("SELECT pg_sleep(0.1)")
            assert receiver.got == []  # nothing that the open transaction may come in front of
            await late.commit()
        await until(lambda: len(messages(receiver)) == 4)
    kinds = [orjson.loads(got.body)["type"] for got in messages(receiver).values()]
    assert sorted(kinds) == ["cluster.active"] * 3 + ["cluster.deleting"]


async def test_a_slow_end_point_keeps_no_other_waiting_and_a_lost_answer_is_asked_again(
    customer: Customer, receiver: Receiver
) -> None:
    receiver.stalled = True
    async with receiving() as quick:
        await customer.hook(receiver, "cluster.*")
        await customer.hook(quick, "cluster.*")
        async with customer.worker(webhook_slots=2, drain_seconds=0.05):
            await customer.emit()
            await until(lambda: receiver.got)
            await until(lambda: customer.value("SELECT bool_or(state = 'delivered') FROM webhook_deliveries"))
    receiver.stalled = False
    async with customer.worker():
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
    first, again = receiver.got
    assert first.headers["webhook-id"] == again.headers["webhook-id"]
    assert first.body == again.body
    assert len(quick.got) >= 1


async def test_a_clock_that_is_set_back_delays_no_try(
    customer: Customer, receiver: Receiver, database: Scratch
) -> None:
    """The next try is a day ahead then; it comes at once."""
    await customer.hook(receiver, "cluster.*")
    receiver.status = 500
    async with customer.worker():
        await customer.emit()
        await until(lambda: customer.value("SELECT run_at > app_now() FROM work WHERE kind = 'webhook'"))
    assert await customer.tries() == 1
    shift_clock(database.owner_url, "-1 day")
    receiver.status = 200
    async with customer.worker():
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
