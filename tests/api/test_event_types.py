"""The list of event types, and requests that name one that is not in it."""

from __future__ import annotations

import orjson
import pytest

from ipucloud.contract.event_types.names import ACCOUNT_TYPES, REGISTRY, TYPES
from tests.api.support import Api, items, pointers_of, problem
from tests.support.filled_in import openapi

pytestmark = pytest.mark.anyio

HOOK = {"url": "https://hooks.example.com/ipucloud"}


async def test_the_types_are_listed_with_what_their_data_hold(shared_api: Api) -> None:
    listed = await shared_api.owner.get("/v1/event-types")
    items = {item["type"]: item for item in listed.json()["items"]}
    assert list(items) == TYPES
    assert items["operation.created"]["subject_types"] == ["cluster", "export"]
    assert items["token.rotated"]["data_schema"]["required"] == ["replaced_by"]
    assert items["token.revoked"]["data_schema"] is None
    again = await shared_api.owner.get("/v1/event-types", headers={"If-None-Match": listed.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("sent", "meant"),
    [("cluster.actve", "`cluster.active`"), ("clutser.*", "`cluster.*`"), ("webhook.ping", "webhook")],
)
async def test_a_webhook_for_nothing_is_refused_with_the_nearest_types(api: Api, sent: str, meant: str) -> None:
    before = await api.snapshot()
    answer = await api.owner.post(f"{api.base}/webhooks", json=HOOK | {"event_types": ["cluster.*", sent]})
    [fault] = problem(answer, 422, "validation_failed")["errors"]
    assert (fault["pointer"], fault["code"]) == ("/event_types/1", "unknown_event_type")
    assert f"`{sent}`" in fault["detail"]
    assert meant in fault["detail"]
    assert await api.snapshot() == before


async def test_a_webhook_is_not_changed_to_one_for_nothing(api: Api) -> None:
    webhook = (await api.owner.post(f"{api.base}/webhooks", json=HOOK)).json()
    changed = await api.owner.patch(f"{api.base}/webhooks/{webhook['id']}", json={"event_types": ["cluster.actve"]})
    problem(changed, 422, "validation_failed")
    stored = (await api.owner.get(f"{api.base}/webhooks/{webhook['id']}")).json()
    assert (stored["event_types"], stored["version"]) == ([], webhook["version"])


@pytest.mark.parametrize("sent", ["cluster.actve", "cluster.*", "cluster", "", "zzz.qqq", "<script>.x", "a.b" * 500])
async def test_a_filter_by_a_type_that_does_not_exist_is_refused(shared_api: Api, sent: str) -> None:
    answer = await shared_api.owner.get(f"{shared_api.base}/events", params={"type": ["cluster.active", sent]})
    assert pointers_of(answer) == ["?type"]
    several = {"type": ["cluster.active", "audit.repaired"]}
    assert await items(shared_api.owner, f"{shared_api.base}/events", **several) == []


def test_the_document_describes_a_message_for_every_type() -> None:
    document = openapi()
    sent = {*TYPES, *ACCOUNT_TYPES}
    assert set(document["webhooks"]) == {*sent, "webhook.ping"}
    schemas = document["components"]["schemas"]
    for name in sorted(sent):
        kind = REGISTRY[name]
        post = document["webhooks"][name]["post"]
        assert post["summary"] == kind.meaning
        described = orjson.dumps(post["requestBody"]).decode()
        assert f'"const":"{name}"' in described
        if kind.payload is not None:
            assert f'"#/components/schemas/{kind.payload.__name__}"' in described
            assert kind.payload.__name__ in schemas
