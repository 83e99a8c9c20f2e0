"""Webhooks through the API: made, read, changed, tried; their secrets are shown once and stored nowhere."""

from __future__ import annotations

import pytest

from tests.api.support import Api, items, key, ok, pointers_of, problem

pytestmark = pytest.mark.anyio

BODY = {"url": "https://hooks.example.com/ipucloud", "event_types": ["cluster.*", "operation.failed"]}


async def test_a_webhook_from_its_creation_to_its_end(api: Api) -> None:
    headers = key()
    answer = await api.owner.post(f"{api.base}/webhooks", json=BODY, headers=headers)
    created = answer.json()
    assert answer.status_code == 201
    assert created["secret"].startswith("whsec_")
    assert await api.stores(created["secret"]) == []
    again = await api.owner.post(f"{api.base}/webhooks", json=BODY, headers=headers)
    assert again.json() == created | {"secret": None}
    path = f"{api.base}/webhooks/{created['id']}"
    read = await api.owner.get(path)
    assert await items(api.owner, f"{api.base}/webhooks") == [read.json()]
    stale = await api.owner.patch(path, json={"description": "ours"}, headers={"If-Match": '"9"'})
    problem(stale, 412, "precondition_failed")
    changed = await api.owner.patch(path, json={"enabled": False}, headers={"If-Match": read.headers["etag"]})
    assert (changed.json()["enabled"], changed.json()["disabled"]) == (False, "by_owner")
    problem(await api.owner.post(f"{path}:ping"), 409, "state_conflict")
    assert (await api.owner.patch(path, json={"enabled": True})).json()["disabled"] is None
    rotated = (await api.owner.post(f"{path}:rotate-secret", json={})).json()
    assert rotated["secret"] not in {None, created["secret"]}
    assert rotated["previous_secret_until"] is not None
    assert (await api.owner.delete(path)).status_code == 204
    problem(await api.owner.get(path), 404, "not_found")


async def test_a_ping_is_a_delivery_that_can_be_sent_again(api: Api) -> None:
    path = f"{api.base}/webhooks/{(await api.owner.post(f'{api.base}/webhooks', json=BODY)).json()['id']}"
    sent = await api.owner.post(f"{path}:ping")
    delivery = sent.json()
    assert sent.status_code == 202
    assert (delivery["type"], delivery["state"], delivery["tries"]) == ("webhook.ping", "pending", [])
    assert delivery["message_id"] == f"msg_{delivery['id'].replace('-', '')}"
    assert await items(api.owner, f"{path}/deliveries") == [delivery]
    assert await items(api.owner, f"{path}/deliveries?state=failed") == []
    await api.world.execute("UPDATE webhook_deliveries SET state = 'failed', next_at = NULL, tries = 10")
    again = await api.owner.post(f"{path}/deliveries/{delivery['id']}:redeliver")
    assert (again.status_code, again.json()["state"]) == (202, "pending")
    assert again.json()["message_id"] == delivery["message_id"]
    assert (await api.owner.get(f"{path}/deliveries/{delivery['id']}")).json()["id"] == delivery["id"]
    problem(await api.owner.post(f"{path}/deliveries/{api.world.project.id}:redeliver"), 404, "not_found")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"url": "http://hooks.example.com/"}, "/url"),
        ({"url": "https://169.254.169.254/latest"}, "/url"),
        ({"event_types": ["*"]}, "/event_types/0"),
        ({"event_types": ["cluster"]}, "/event_types/0"),
        ({"colour": "red"}, "/colour"),
        ({"description": "two\nlines"}, "/description"),
    ],
)
async def test_what_cannot_be_told_anything_is_refused(api: Api, change: dict[str, object], pointer: str) -> None:
    before = await api.snapshot()
    assert pointers_of(await api.owner.post(f"{api.base}/webhooks", json=BODY | change)) == [pointer]
    assert await api.snapshot() == before


async def test_a_project_has_so_many_webhooks(api: Api) -> None:
    for _ in range(20):
        ok(await api.owner.post(f"{api.base}/webhooks", json=BODY), 201)
    problem(await api.owner.post(f"{api.base}/webhooks", json=BODY), 409, "quota_exceeded")
