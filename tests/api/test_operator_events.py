"""What happens to the platform, as its operators read it; no project sees it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ipucloud.inventory.health.codes import Code
from ipucloud.policies.repairs import start_repairs
from tests.api.support import Api, items, problem, walk
from tests.support.fault_reports import make_confirmed

pytestmark = pytest.mark.anyio

REGION = "luxembourg-2"
FEED = "/v1/operator/events"


async def events(caller: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    return await items(caller, FEED, order="created_at", **query)


async def post(caller: httpx.AsyncClient, path: str, **body: object) -> dict[str, Any]:
    answer = await caller.post(f"/v1/operator/{path}", json=body)
    assert answer.status_code in {200, 201, 202}, answer.text
    document: dict[str, Any] = answer.json()
    return document


async def test_what_operators_do_is_recorded_for_operators_only(api: Api, admin: httpx.AsyncClient) -> None:
    [machine] = await api.world.column(
        "SELECT m.name FROM machines m JOIN pods p ON p.id = m.pod_id WHERE region = :region ORDER BY 1 LIMIT 1",
        region=REGION,
    )
    freeze = await post(admin, "freezes", region=REGION, reason="odd answers", expires_at="2126-01-01T00:00:00Z")
    await post(admin, f"freezes/{freeze['id']}:end", reason="they are right")
    await post(admin, "hardware:drain", machines=[machine], reason="a new fan")
    await post(admin, "hardware:quarantine", machines=[machine], reason="odd")
    await post(admin, "hardware:maintenance", machines=[machine], reason="a new fan")
    await post(admin, "hardware:return-to-service", machines=[machine])
    log = await events(admin)
    orders = ["drained", "quarantined", "maintained", "returned_to_service"]
    assert [each["type"] for each in log[:2]] == ["freeze.started", "freeze.ended"]
    assert [each["type"] for each in log[2:]] == [f"hardware.{each}" for each in orders]
    started, ended, drained, *_, returned = log
    assert (started["subject_id"], started["project"], drained["region"]) == (freeze["id"], None, started["region"])
    assert (started["data"]["reason"], ended["data"]["reason"]) == ("odd answers", "they are right")
    assert (drained["data"]["machines"], drained["data"]["reason"]) == ([machine], "a new fan")
    assert drained["data"]["ordered_by"] == freeze["created_by"]
    assert (returned["subject_type"], returned["subject_id"]) == ("region", None)
    own = (await api.owner.get(f"{api.base}/events", params={"limit": 1000})).json()["items"]
    assert not {each["id"] for each in own} & {each["id"] for each in log}
    known = {each["type"] for each in (await api.owner.get("/v1/event-types")).json()["items"]}
    assert "freeze.started" not in known
    problem(await api.owner.get(f"{api.base}/events", params={"type": "freeze.started"}), 422, "validation_failed")


async def test_the_feed_is_read_page_by_page_and_filtered(admin: httpx.AsyncClient) -> None:
    for region in (REGION, None, "amsterdam-2"):
        await post(admin, "freezes", region=region, reason="odd", expires_at="2126-01-01T00:00:00Z")
    every = await events(admin)
    assert await walk(admin, FEED, limit=2) == every[::-1]
    assert await events(admin, after=every[0]["id"]) == every[1:]
    assert await events(admin, region=REGION) == every[:2]
    assert await events(admin, type="freeze.ended") == []
    assert await events(admin, subject=every[2]["subject_id"]) == every[2:]
    for wrong in ({"type": "cluster.created"}, {"after": "x"}, {"order": "name"}):
        problem(await admin.get(FEED, params=wrong), 422, "validation_failed")


async def test_events_of_projects_that_concern_operators_are_in_both_feeds(api: Api, admin: httpx.AsyncClient) -> None:
    bert = await api.world.make_active()
    await make_confirmed(api.world, bert)
    await post(admin, f"clusters/{bert}:force-delete", reason="its rack is gone")
    feed = await events(admin, project=api.world.project.slug)
    expected = ["fault_report.opened", "fault_report.confirmed", "cluster.delete_forced"]
    assert [each["type"] for each in feed] == expected
    assert {each["region"] for each in feed} == {REGION}
    assert [each["subject_name"] for each in feed] == [None, None, "bert"]
    own = (await api.owner.get(f"{api.base}/events", params={"limit": 1000})).json()["items"]
    assert {each["id"] for each in feed} <= {each["id"] for each in own}
    assert await events(admin, region="amsterdam-2") == []


async def test_a_repair_that_has_to_wait_is_told_once(api: Api, admin: httpx.AsyncClient) -> None:
    bert = await api.world.make_active()
    await api.world.fail(bert, Code.BMC_CRITICAL)
    settings = api.world.settings.model_copy(update={"repair_after": 0.0, "repair_limit": 0})

    async def never(*_: object, **__: object) -> Any:
        raise AssertionError("no repair may begin")

    for _ in range(3):
        await start_repairs(settings, never, api.world.database)
    [waits] = await events(admin, type="cluster.repair_waiting")
    assert (waits["subject_name"], waits["data"]["waits_for"]) == ("bert", "limit")
