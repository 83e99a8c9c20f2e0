"""What a customer's server receives for an event: a signed message with the attributes of a CloudEvent."""

from __future__ import annotations

import orjson
import pytest
import sqlalchemy as sa
from standardwebhooks import WebhookVerificationError

from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.events.log import act_as, record
from ipucloud.kernel.actor import Origin
from ipucloud.webhooks import store
from tests.feature.webhooks.customer import DATA, SUBJECT, Customer, messages, until, verified
from tests.support.feed import settled
from tests.support.receiver import ReceivedRequest, Receiver

pytestmark = pytest.mark.anyio


async def test_an_event_becomes_one_signed_thin_message(customer: Customer, receiver: Receiver) -> None:
    await customer.emit("cluster.created")  # before the webhook: it never hears of it
    webhook = await customer.hook(receiver, "cluster.*", "operation.failed")
    async with customer.worker():
        for kind in ("token.created", "cluster.created", "operation.succeeded", "operation.failed"):
            await customer.emit(kind)
        await until(lambda: len(messages(receiver)) == 2)
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
    received = {name: verified(webhook.secret, got) for name, got in messages(receiver).items()}
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
            verified(webhook.secret, ReceivedRequest(got.path, got.headers, spoilt))
    old = got.headers | {"webhook-timestamp": str(int(got.headers["webhook-timestamp"]) - 301)}
    with pytest.raises(WebhookVerificationError):
        verified(webhook.secret, ReceivedRequest(got.path, old, got.body))


async def test_a_message_has_the_attributes_of_a_cloud_event(customer: Customer, receiver: Receiver) -> None:
    """In the binary mode of CloudEvents' HTTP binding, percent-encoded; absent where the event has none."""
    webhook = await customer.hook(receiver, "token.*", "cluster.created")
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
            await store.ping(connection, customer.home, webhook.id)
        await until(lambda: len(messages(receiver)) == 3)
    by_type = {got.headers["ce-type"]: got for got in messages(receiver).values()}
    own, other, ping = (by_type[f"ipucloud.{name}"] for name in ("token.created", "token.revoked", "webhook.ping"))
    message = verified(webhook.secret, own)
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


def _attributes(got: ReceivedRequest) -> dict[str, str]:
    return {name.removeprefix("ce-"): value for name, value in got.headers.items() if name.startswith("ce-")}
