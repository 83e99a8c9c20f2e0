"""Secrets that sign messages: replaced by the customer, encrypted anew by the operator."""

from __future__ import annotations

import base64

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from standardwebhooks import WebhookVerificationError

from ipucloud.contract.webhooks import WebhookCreate
from ipucloud.identity.members import Home
from ipucloud.kernel.sealing import new_key, read_keys
from ipucloud.webhooks import store
from ipucloud.worker.reencryption import reencrypt
from tests.feature.webhooks.customer import Customer, messages, tried, until, verified
from tests.support.receiver import Receiver

pytestmark = pytest.mark.anyio


async def test_while_a_secret_is_replaced_both_sign(customer: Customer, receiver: Receiver) -> None:
    made = await customer.hook(receiver, "cluster.*")
    async with customer.database.begin() as connection:
        after = await store.rotate_secret(connection, customer.home, made.id, customer.keys, keep_seconds=3600)
    async with customer.worker():
        await customer.emit()
        await until(lambda: len(receiver.got) >= 1)
        await until(lambda: tried(customer, 1))
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
