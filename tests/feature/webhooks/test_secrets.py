"""Secrets that sign messages: replaced by the customer, encrypted anew by the operator."""

from __future__ import annotations

import base64

import orjson
import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from standardwebhooks import WebhookVerificationError

from ipucloud.contract.webhooks import WebhookCreate, WebhookPatch
from ipucloud.identity.members import Home
from ipucloud.kernel.errors import Problem
from ipucloud.kernel.sealing import new_key, read_keys
from ipucloud.webhooks import store
from ipucloud.worker.reencryption import reencrypt
from tests.feature.webhooks.customer import Customer, messages, tried, until, verified
from tests.support.receiver import Receiver

pytestmark = pytest.mark.anyio


async def test_while_a_secret_is_replaced_both_sign(customer: Customer, receiver: Receiver) -> None:
    webhook = await customer.hook(receiver, "cluster.*")
    async with customer.database.begin() as connection:
        after = await store.rotate_secret(connection, customer.home, webhook.id, customer.keys, keep_seconds=3600)
    async with customer.worker():
        await customer.emit()
        await until(lambda: len(receiver.got) >= 1)
        await until(lambda: tried(customer, 1))
        async with customer.database.begin() as connection:
            await connection.execute(sa.text("UPDATE webhooks SET previous_until = app_now() - interval '1 second'"))
        await customer.emit()
        await until(lambda: len(messages(receiver)) == 2)
    first, second = messages(receiver).values()
    for secret in (webhook.secret, after.secret):
        assert verified(secret, first)
    assert verified(after.secret, second)
    with pytest.raises(WebhookVerificationError):
        verified(webhook.secret, second)
    stored = str(await customer.value("SELECT string_agg(w::text, '') FROM webhooks w"))
    for secret in (webhook.secret, after.secret):
        assert secret not in stored
        assert base64.b64decode(secret.removeprefix("whsec_")).hex() not in stored


async def test_a_worker_that_cannot_open_the_secrets_tries_nothing(customer: Customer, receiver: Receiver) -> None:
    await customer.hook(receiver, "cluster.*")
    other = SecretStr(new_key())
    async with customer.worker(secrets_key=other):
        await customer.emit()
        await until(lambda: customer.value("SELECT run_at > app_now() FROM work WHERE kind = 'webhook'"))
    assert (receiver.connections, await customer.tries()) == (0, 0)
    assert await customer.value("SELECT disabled IS NULL AND failing_since IS NULL FROM webhooks")


async def test_an_older_key_can_be_taken_away_once_all_was_sealed_anew(customer: Customer, receiver: Receiver) -> None:
    webhook = await customer.hook(receiver, "cluster.*")
    async with customer.database.begin() as connection:
        await store.rotate_secret(connection, customer.home, webhook.id, customer.keys, keep_seconds=3600)
    newer = new_key()
    await reencrypt(customer.database, read_keys(f"{newer},{customer.key}"))
    async with customer.worker(secrets_key=SecretStr(newer)):
        await customer.emit()
        await until(lambda: len(receiver.got) >= 1)
    assert verified(webhook.secret, receiver.got[0])


@pytest.mark.parametrize("home", ["project", "account"])
async def test_the_query_of_a_url_is_encrypted_and_sent(customer: Customer, receiver: Receiver, home: str) -> None:
    owner = customer.home if home == "project" else Home(None, customer.project.id, "r1")
    url = f"{receiver.url}?token=s3cret&flag&empty="
    async with customer.database.begin() as connection:
        webhook = await store.create(connection, owner, WebhookCreate(url=url), customer.keys)
        await store.ping(connection, owner, webhook.id)
    shown = f"{receiver.url}?token=***&***&empty=***"
    assert orjson.loads(webhook.document)["url"] == shown
    stored = await customer.value("SELECT string_agg(w::text, '') FROM webhooks w")
    assert ("s3cret" in stored, "flag" in stored) == (False, False)
    key = new_key()
    await reencrypt(customer.database, read_keys(f"{key},{customer.key}"))
    async with customer.worker(secrets_key=SecretStr(key)):
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
    assert {got.path for got in receiver.got} == {"/hook?token=s3cret&flag&empty="}
    assert "webhook.ping" in {verified(webhook.secret, got)["type"] for got in receiver.got}


async def test_a_url_as_it_is_shown_changes_nothing(customer: Customer, receiver: Receiver) -> None:
    webhook = await customer.hook(receiver, query="?token=s3cret")
    version = "SELECT version FROM webhooks"

    async def change(**fields: object) -> str:
        async with customer.database.begin() as connection:
            body = WebhookPatch.model_validate(fields)
            text = await store.update(connection, customer.home, webhook.id, body, customer.keys, if_match=None)
            return str(orjson.loads(text)["url"])

    shown = f"{receiver.url}?token=***"
    before = await customer.value(version)
    assert (await change(url=shown), await customer.value(version)) == (shown, before)
    assert await change(url=shown, description="changed") == shown
    for other in (f"{receiver.url}/other?token=***", f"{receiver.url}?***"):
        with pytest.raises(Problem) as refused:
            await change(url=other)
        assert [error.code for error in refused.value.errors] == ["hidden_value"]
    assert await change(url=f"{receiver.url}?token=changed") == shown
    async with customer.worker():
        async with customer.database.begin() as connection:
            await store.ping(connection, customer.home, webhook.id)
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
    assert {got.path for got in receiver.got} == {"/hook?token=changed"}
    assert await change(url=receiver.url) == receiver.url
    assert await customer.value("SELECT query FROM webhooks") is None
