"""Webhooks from the event log to a customer's own server, by the worker's engine, in the database's time."""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import orjson
import psycopg
import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from standardwebhooks import Webhook, WebhookVerificationError

from ipucloud.billing.accounts.readers import tell
from ipucloud.config import Settings
from ipucloud.contract.event_payloads.clusters import ClusterEntered, ClusterRequested
from ipucloud.contract.event_payloads.projects import OperationOf, TokenMade
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.webhooks import WebhookCreate, WebhookPatch
from ipucloud.db.engine import Database
from ipucloud.events.log import act_as, record
from ipucloud.identity.members import Home
from ipucloud.kernel.actor import Origin
from ipucloud.kernel.clock import SystemClock
from ipucloud.kernel.sealing import new_key, read_keys
from ipucloud.webhooks import store
from ipucloud.webhooks.schedule import PAUSES
from ipucloud.worker.main import assemble_webhooks
from ipucloud.worker.reencryption import reencrypt
from tests.support.factories import Project, make_project
from tests.support.feed import settled
from tests.support.postgres import Database as Scratch
from tests.support.receiver import Got, Receiver, receiving
from tests.support.waiting import PATIENCE
from tests.support.world import at_work
from tests.support.world.clock import shift_clock, start_clock, stop_clock

pytestmark = pytest.mark.anyio

SUBJECT = UUID(int=7)
DATA = {
    "cluster.created": ClusterRequested(region="luxembourg-2", flavor="m2000-pod16"),
    "cluster.active": ClusterEntered(),
    "operation.succeeded": OperationOf(kind="cluster.create"),
    "operation.failed": OperationOf(kind="cluster.create"),
    "token.created": TokenMade(name="ci", role="operator"),
}


class Customer:
    """A project with webhooks, and the worker that sends them."""

    def __init__(self, database: Database, project: Project, scratch: Scratch) -> None:
        self.database = database
        self.project = project
        self.home = Home(project.id, None, "r1")
        self.scratch = scratch
        self.key = new_key()
        self.keys = read_keys(self.key)
        self.settings = Settings(
            secrets_key=SecretStr(self.key), webhook_private_addresses=True, webhook_interval=0.02, poll_seconds=0.02
        )

    async def hook(self, receiver: Receiver, *types: str) -> store.Made:
        body = WebhookCreate(url=receiver.url, event_types=list(types))
        async with self.database.begin() as connection:
            return await store.create(connection, self.home, body, self.keys)

    async def emit(self, kind: str = "cluster.created", subject: UUID = SUBJECT, *, shown: bool = True) -> None:
        """Record an event. If `shown`, wait until nothing can come in front of it any more."""
        async with self.database.begin() as connection:
            await record(
                connection,
                REGISTRY[kind],
                project_id=self.project.id,
                subject_id=subject,
                subject_type=REGISTRY[kind].subjects[0],
                request_id="r1",
                data=DATA.get(kind),
            )
        if shown:
            await settled(self.database)

    @asynccontextmanager
    async def worker(self, **changes: Any) -> AsyncIterator[None]:
        database = Database(self.database.url, pool_size=4)
        settings = self.settings.model_copy(update=changes)
        engine = assemble_webhooks(database, settings, SystemClock(), draw=random.Random(1))  # noqa: S311
        try:
            async with at_work(engine):
                yield
        finally:
            await database.close()

    async def value(self, statement: str, **values: object) -> Any:
        async with self.database.read() as connection:
            return (await connection.execute(sa.text(statement), values)).scalar_one_or_none()

    async def tries(self) -> int:
        """Of the only delivery, as far as they are on record."""
        return int(await self.value("SELECT coalesce(max(jsonb_array_length(log)), 0) FROM webhook_deliveries"))


def messages(receiver: Receiver) -> dict[str, Got]:
    """What arrived, by the message's id: one whose answer comes late is sent again."""
    return {got.headers["webhook-id"]: got for got in receiver.got}


async def until(holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            found = holds()
            if await found if asyncio.iscoroutine(found) else found:
                return
            await asyncio.sleep(0.01)


@pytest.fixture
async def customer(db: Database, database: Scratch) -> Customer:
    async with db.begin() as connection:
        project = await make_project(connection)
    return Customer(db, project, database)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


def verified(secret: str, got: Got) -> Any:
    return Webhook(secret).verify(got.body, got.headers)


async def test_an_event_becomes_one_signed_thin_message(customer: Customer, receiver: Receiver) -> None:
    await customer.emit("cluster.created")  # before the webhook: it never hears of it
    made = await customer.hook(receiver, "cluster.*", "operation.failed")
    async with customer.worker():
        for kind in ("token.created", "cluster.created", "operation.succeeded", "operation.failed"):
            await customer.emit(kind)
        await until(lambda: len(messages(receiver)) == 2)
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
    received = {name: verified(made.secret, got) for name, got in messages(receiver).items()}
    assert {message["type"] for message in received.values()} == {"cluster.created", "operation.failed"}
    message = next(each for each in received.values() if each["type"] == "cluster.created")
    assert set(message) == {"type", "timestamp", "data"}
    assert message["data"]["subject_id"] == str(SUBJECT)
    assert message["data"]["project_id"] == str(customer.project.id)
    got = receiver.got[0]
    for spoilt in (
        got.body + b" ",
        orjson.dumps(orjson.loads(got.body))[:-1],
        got.body.replace(b"cluster", b"Cluster"),
    ):
        with pytest.raises(WebhookVerificationError):
            verified(made.secret, Got(got.path, got.headers, spoilt))
    old = got.headers | {"webhook-timestamp": str(int(got.headers["webhook-timestamp"]) - 301)}
    with pytest.raises(WebhookVerificationError):
        verified(made.secret, Got(got.path, old, got.body))


async def test_a_message_has_the_attributes_of_a_cloud_event(customer: Customer, receiver: Receiver) -> None:
    """In the binary mode of CloudEvents' HTTP binding, percent-encoded; absent where the event has none."""
    made = await customer.hook(receiver, "token.*", "cluster.created")
    agent = 'Mozilla/5.0 (X11) "100%" é'
    async with customer.database.begin() as connection:
        await act_as(connection, "ann@example.com", home=customer.project.id, origin=Origin("2001:db8::7", agent))
        token, made_of = REGISTRY["token.created"], DATA["token.created"]
        await record(
            connection, token, project_id=customer.project.id, subject_id=SUBJECT, request_id="r1", data=made_of
        )
    async with customer.database.begin() as connection:
        await act_as(connection, "operator@example.com", origin=Origin("198.51.100.1", "curl"))
        token = REGISTRY["token.revoked"]
        await record(connection, token, project_id=customer.project.id, subject_id=SUBJECT)
    await settled(customer.database)
    async with customer.worker():
        await until(lambda: len(messages(receiver)) == 2)
        async with customer.database.begin() as connection:
            await store.ping(connection, customer.home, made.id)
        await until(lambda: len(messages(receiver)) == 3)
    found = {got.headers["ce-type"]: got for got in messages(receiver).values()}
    own, other, ping = (found[f"ipucloud.{name}"] for name in ("token.created", "token.revoked", "webhook.ping"))
    message = verified(made.secret, own)
    event = message["data"]
    assert (event["address"], event["agent"], event["region"]) == ("2001:db8::7", agent, None)
    assert _attributes(own) == {
        "specversion": "1.0",
        "id": event["id"],
        "source": f"/v1/projects/{customer.project.id}",
        "type": "ipucloud.token.created",
        "subject": f"token/{SUBJECT}",
        "time": message["timestamp"],
        "actor": "ann@example.com",
        "address": "2001:db8::7",
        "agent": "Mozilla/5.0%20(X11)%20%22100%25%22%20%C3%A9",
        "requestid": "r1",
    }
    assert own.headers["content-type"] == "application/json"
    assert {"address", "agent", "requestid"}.isdisjoint(_attributes(other))
    assert (_attributes(other)["actor"], b"198.51.100.1" in other.body) == ("operator@example.com", False)
    assert _attributes(ping)["id"] == ping.headers["webhook-id"]


async def test_a_message_of_an_earlier_version_is_sent_with_what_it_has(customer: Customer, receiver: Receiver) -> None:
    await customer.hook(receiver, "cluster.*")
    receiver.status = 500
    await customer.emit()
    async with customer.worker():
        await until(lambda: customer.value("SELECT tries = 1 FROM webhook_deliveries"))
    async with customer.database.begin() as connection:
        await connection.execute(
            sa.text(
                "UPDATE webhook_deliveries SET state = 'pending', next_at = app_now(), payload = CAST("
                " CAST(payload AS jsonb) #- '{data,address}' #- '{data,agent}' #- '{data,region}' #- '{data,actor}'"
                " AS text)"
            )
        )
    receiver.status, receiver.got = 200, []
    async with customer.worker():
        await until(lambda: customer.value("SELECT state = 'delivered' FROM webhook_deliveries"))
    assert set(_attributes(receiver.got[0])) == {
        *("specversion", "id", "source", "type", "subject", "time", "requestid"),
    }


def _attributes(got: Got) -> dict[str, str]:
    return {name.removeprefix("ce-"): value for name, value in got.headers.items() if name.startswith("ce-")}


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
            await until(partial(_tried, customer, tries))
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


async def _tried(customer: Customer, tries: int) -> bool:
    """So many tries are on record, and the worker has put the end-point down until the next."""
    held = "SELECT count(*) FROM work WHERE kind = 'webhook' AND lease_owner IS NOT NULL"
    return await customer.tries() >= tries and await customer.value(held) == 0


async def test_a_success_between_ends_the_count_and_410_ends_everything(customer: Customer, receiver: Receiver) -> None:
    receiver.script = [500, 200, 410]
    made = await customer.hook(receiver, "cluster.*")
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
            await store.update(connection, customer.home, made.id, WebhookPatch(enabled=True), if_match=None)
        await customer.emit("cluster.active")
        await until(lambda: len(receiver.got) >= 4)
    assert orjson.loads(receiver.got[3].body)["type"] == "cluster.active"


async def test_who_is_busy_says_when_to_come_again(customer: Customer, receiver: Receiver) -> None:
    receiver.status, receiver.retry_after = 429, "600"
    await customer.hook(receiver, "cluster.*")
    async with customer.worker():
        await customer.emit()
        await until(partial(_tried, customer, 1))
    pause = "SELECT extract(epoch FROM next_at - CAST(log -> 0 ->> 'at' AS timestamptz))::int FROM webhook_deliveries"
    assert await customer.value(pause) == 600


async def test_while_a_secret_is_replaced_both_sign(customer: Customer, receiver: Receiver) -> None:
    made = await customer.hook(receiver, "cluster.*")
    async with customer.database.begin() as connection:
        after = await store.rotate_secret(connection, customer.home, made.id, customer.keys, keep_seconds=3600)
    async with customer.worker():
        await customer.emit()
        await until(lambda: len(receiver.got) >= 1)
        await until(lambda: _tried(customer, 1))
        async with customer.database.begin() as connection:
            await connection.execute(sa.text("UPDATE webhooks SET previous_until = app_now() - interval '1 second'"))
        await customer.emit()
        await until(lambda: len(messages(receiver)) == 2)
    first, second = messages(receiver).values()
    for secret in (made.secret, after.secret):
        assert verified(secret, first)
    assert verified(after.secret, second)
    with pytest.raises(WebhookVerificationError):
        verified(made.secret, second)
    stored = str(await customer.value("SELECT string_agg(w::text, '') FROM webhooks w"))
    for secret in (made.secret, after.secret):
        assert secret not in stored
        assert base64.b64decode(secret.removeprefix("whsec_")).hex() not in stored


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
            await until(lambda: len(receiver.got) >= 1 and len(quick.got) >= 1)
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


async def test_a_worker_that_cannot_open_the_secrets_tries_nothing(customer: Customer, receiver: Receiver) -> None:
    await customer.hook(receiver, "cluster.*")
    other = SecretStr(new_key())
    async with customer.worker(secrets_key=other):
        await customer.emit()
        await until(lambda: customer.value("SELECT run_at > app_now() FROM work WHERE kind = 'webhook'"))
    assert (receiver.connections, await customer.tries()) == (0, 0)
    assert await customer.value("SELECT disabled IS NULL AND failing_since IS NULL FROM webhooks")


async def test_an_older_key_can_be_taken_away_once_all_was_sealed_anew(customer: Customer, receiver: Receiver) -> None:
    made = await customer.hook(receiver, "cluster.*")
    async with customer.database.begin() as connection:
        await store.rotate_secret(connection, customer.home, made.id, customer.keys, keep_seconds=3600)
    newer = new_key()
    await reencrypt(customer.database, read_keys(f"{newer},{customer.key}"))
    async with customer.worker(secrets_key=SecretStr(newer)):
        await customer.emit()
        await until(lambda: len(receiver.got) >= 1)
    assert verified(made.secret, receiver.got[0])


async def test_a_billing_accounts_webhook_gets_the_accounts_events_and_no_others(
    customer: Customer, receiver: Receiver
) -> None:
    """Two accounts and a project have webhooks; each gets its own events, in the order in which they were recorded."""
    homes = {"ours": Home(None, customer.project.id, "r1"), "project": customer.home}
    async with customer.database.begin() as connection:
        other = await make_project(connection)
    homes["theirs"] = Home(None, other.id, "r1")
    made = {}
    for name, home in homes.items():
        body = WebhookCreate(url=receiver.url.replace("/hook", f"/{name}"))
        async with customer.database.begin() as connection:
            made[name] = await store.create(connection, home, body, customer.keys)
    await settled(customer.database)
    async with customer.worker():
        for account_id in (customer.project.id, other.id):
            async with customer.database.begin() as connection:
                await tell(connection, account_id, REGISTRY["account.top_up_resumed"])
        await settled(customer.database)
        await until(lambda: len([got for got in messages(receiver).values() if b"top_up_resumed" in got.body]) >= 3)
        async with customer.database.begin() as connection:
            again = await connection.execute(
                sa.text("SELECT id FROM webhook_deliveries WHERE account_id = :id AND type LIKE 'account.%'"),
                {"id": customer.project.id},
            )
            delivery = again.scalar_one()
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
        before = len(receiver.got)
        async with customer.database.begin() as connection:
            await store.redeliver(connection, homes["ours"], made["ours"].id, delivery)
        await until(lambda: len(receiver.got) > before)
    assert receiver.got[-1].headers["webhook-id"] == f"msg_{delivery.hex}"
    found: dict[str, set[tuple[str, object, object]]] = {name: set() for name in homes}
    for got in messages(receiver).values():
        name = got.path.removeprefix("/")
        message = verified(made[name].secret, got)
        project_id, account_id = message["data"]["project_id"], message["data"]["account_id"]
        found[name].add((message["type"], project_id, account_id))
        place = f"/v1/projects/{project_id}" if project_id else f"/v1/billing/accounts/{account_id}"
        assert (got.headers["ce-source"], got.headers["ce-id"]) == (place, message["data"]["id"])
    ours, theirs = str(customer.project.id), str(other.id)
    told = "account.top_up_resumed"
    assert {each for each in found["ours"] if each[0] == told} == {(told, None, ours)}
    assert {each for each in found["theirs"] if each[0] == told} == {(told, None, theirs)}
    assert {each for each in found["project"] if each[0] == told} == {(told, ours, None)}
    assert {each[1:] for each in found["ours"]} == {(None, ours)}


async def test_an_accounts_webhook_that_fails_is_disabled_and_its_payers_are_told(
    customer: Customer, receiver: Receiver
) -> None:
    home = Home(None, customer.project.id, "r1")
    receiver.status = 410
    async with customer.database.begin() as connection:
        made = await store.create(connection, home, WebhookCreate(url=receiver.url), customer.keys)
        await store.ping(connection, home, made.id)
    async with customer.worker():
        await until(lambda: customer.value("SELECT disabled = 'gone' FROM webhooks"))
    told = "SELECT account_id FROM events WHERE type = 'webhook.disabled' AND project_id IS NULL"
    assert await customer.value(told) == customer.project.id


async def test_secrets_of_accounts_are_encrypted_anew(customer: Customer, receiver: Receiver) -> None:
    home = Home(None, customer.project.id, "r1")
    async with customer.database.begin() as connection:
        made = await store.create(connection, home, WebhookCreate(url=receiver.url), customer.keys)
        await store.ping(connection, home, made.id)
    key = new_key()
    await reencrypt(customer.database, read_keys(f"{key},{customer.key}"))
    async with customer.worker(secrets_key=SecretStr(key)):
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
    assert "webhook.ping" in {verified(made.secret, got)["type"] for got in receiver.got}
