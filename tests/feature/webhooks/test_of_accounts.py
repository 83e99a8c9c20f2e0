"""Webhooks of billing accounts: they get the account's events, and payers are told when one is disabled."""

from __future__ import annotations

import pytest

from ipucloud.billing.accounts.store import record_event
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.contract.webhooks import WebhookCreate
from ipucloud.identity.members import Home
from ipucloud.webhooks import store
from tests.feature.webhooks.customer import Customer, messages, until, verified
from tests.support.factories import make_project
from tests.support.feed import settled
from tests.support.receiver import Receiver

pytestmark = pytest.mark.anyio


async def test_a_billing_accounts_webhook_gets_the_accounts_events_and_no_others(
    customer: Customer, receiver: Receiver
) -> None:
    """Two accounts and a project have webhooks; each gets its own events, in the order in which they were recorded."""
    homes = {"ours": Home(None, customer.project.id, "r1"), "project": customer.home}
    async with customer.database.begin() as connection:
        other = await make_project(connection)
    homes["theirs"] = Home(None, other.id, "r1")
    webhooks = {}
    for name, home in homes.items():
        body = WebhookCreate(url=receiver.url.replace("/hook", f"/{name}"))
        async with customer.database.begin() as connection:
            webhooks[name] = await store.create(connection, home, body, customer.keys)
    await settled(customer.database)
    async with customer.worker():
        for account_id in (customer.project.id, other.id):
            async with customer.database.begin() as connection:
                await record_event(connection, account_id, REGISTRY["account.top_up_resumed"])
        await settled(customer.database)
        await until(lambda: len([got for got in messages(receiver).values() if b"top_up_resumed" in got.body]) >= 3)
        own = "SELECT id FROM webhook_deliveries WHERE account_id = :id AND type LIKE 'account.%'"
        delivery = await customer.value(own, id=customer.project.id)
        await until(lambda: customer.value("SELECT bool_and(state = 'delivered') FROM webhook_deliveries"))
        before = len(receiver.got)
        async with customer.database.begin() as connection:
            await store.redeliver(connection, homes["ours"], webhooks["ours"].id, delivery)
        await until(lambda: len(receiver.got) > before)
    assert receiver.got[-1].headers["webhook-id"] == f"msg_{delivery.hex}"
    received: dict[str, set[tuple[str, object, object]]] = {name: set() for name in homes}
    for got in messages(receiver).values():
        name = got.path.removeprefix("/")
        message = verified(webhooks[name].secret, got)
        project_id, account_id = message["data"]["project_id"], message["data"]["account_id"]
        received[name].add((message["type"], project_id, account_id))
        place = f"/v1/projects/{project_id}" if project_id else f"/v1/billing/accounts/{account_id}"
        assert (got.headers["ce-source"], got.headers["ce-id"]) == (place, message["data"]["id"])
    own_id, other_id = str(customer.project.id), str(other.id)
    of_homes = {"ours": (None, own_id), "theirs": (None, other_id), "project": (own_id, None)}
    for name, home_ids in of_homes.items():
        assert {each[1:] for each in received[name] if each[0] == "account.top_up_resumed"} == {home_ids}
    assert {each[1:] for each in received["ours"]} == {(None, own_id)}


async def test_an_accounts_webhook_that_fails_is_disabled_and_its_payers_are_told(
    customer: Customer, receiver: Receiver
) -> None:
    home = Home(None, customer.project.id, "r1")
    receiver.status = 410
    async with customer.database.begin() as connection:
        webhook = await store.create(connection, home, WebhookCreate(url=receiver.url), customer.keys)
        await store.ping(connection, home, webhook.id)
    async with customer.worker():
        await until(lambda: customer.value("SELECT disabled = 'gone' FROM webhooks"))
    accounts = "SELECT account_id FROM events WHERE type = 'webhook.disabled' AND project_id IS NULL"
    assert await customer.value(accounts) == customer.project.id
