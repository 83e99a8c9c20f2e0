"""Where events come from: the client's address and program, the region, who asked, and who may see them."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import httpx
import orjson
import pytest

from ipucloud.identity.roles import Role
from ipucloud.policies.expiry import delete_expired_clusters
from tests.api.people import logged_in, person
from tests.api.support import Api, cluster_id, cluster_json, items, key, ok, problem
from tests.support.feed import settled
from tests.support.people import PASSWORD

pytestmark = pytest.mark.anyio

ADDRESS = "192.0.2.7"
AGENT = "terraform/1.9"
OPERATOR_EVENTS = "/v1/operator/events"


async def events(api: Api, caller: httpx.AsyncClient, path: str, **query: Any) -> list[dict[str, Any]]:
    await settled(api.world.database)
    return await items(caller, path, order="created_at", limit=1000, **query)


async def last(api: Api, caller: httpx.AsyncClient | None = None, **query: Any) -> dict[str, Any]:
    return (await events(api, caller or api.owner, f"{api.base}/events", **query))[-1]


def origin(event: dict[str, Any]) -> tuple[object, object, object]:
    return event["address"], event["agent"], event["region"]


async def whoever(api: Api, role: Role, **headers: str) -> httpx.AsyncClient:
    """A caller of the role at ADDRESS, whose program is AGENT unless `headers` have another."""
    caller = await api.caller(role)
    secret = caller.headers["authorization"].removeprefix("Bearer ")
    return api.client(secret, address=ADDRESS, **({"User-Agent": AGENT} | headers))


async def test_an_event_says_where_its_request_came_from_and_in_which_region(api: Api) -> None:
    caller = await whoever(api, Role.OWNER)
    created = ok(await caller.post(f"{api.base}/clusters", json=cluster_json()), 202)
    listed = await events(api, api.owner, f"{api.base}/events", subject=str(cluster_id(created)))
    assert {each["type"]: origin(each) for each in listed} == {
        "cluster.created": (ADDRESS, AGENT, "luxembourg-2"),
        "operation.created": (ADDRESS, AGENT, "luxembourg-2"),
    }
    viewer = await api.caller(Role.VIEWER)
    assert await events(api, viewer, f"{api.base}/events", subject=listed[0]["subject_id"]) == listed
    overview = (await api.owner.get(f"{api.base}/overview")).json()["events"]
    assert [each for each in overview if each["id"] == listed[0]["id"]] == [listed[0]]
    stream = (await api.owner.get(f"{api.base}/events/stream", params={"after": "0-0", "wait": 0})).text
    streamed = [orjson.loads(line.removeprefix("data: ")) for line in stream.splitlines() if line.startswith("data: ")]
    assert [each for each in streamed if each["subject_id"] == listed[0]["subject_id"]] == listed

    ok(await caller.post(f"{api.base}/tokens", json={"name": "ci", "role": "viewer"}, headers=key()), 201)
    assert origin(await last(api, type="token.created")) == (ADDRESS, AGENT, None)


@pytest.mark.parametrize(
    ("agent", "recorded"),
    [
        (b"a\x07\x1b[31mprogram\x7f\x85\xa0", "a??[31mprogram???"),
        (b"x" * 5000, "x" * 200),
        (b"\x00" * 201, "?" * 200),
        ("Ünïcode".encode("latin-1"), "Ünïcode"),
        (b'"; DROP TABLE events; --%00 {"a": 1}', '"; DROP TABLE events; --%00 {"a": 1}'),
        (b"", None),
    ],
)
async def test_a_program_is_recorded_without_control_characters_and_cut(
    api: Api, agent: bytes, recorded: str | None
) -> None:
    created = await api.owner.post(
        f"{api.base}/tokens", json={"name": "ci", "role": "viewer"}, headers=[(b"user-agent", agent)]
    )
    assert created.status_code == 201, created.text
    event = await last(api, type="token.created")
    assert (event["address"], event["agent"]) == ("127.0.0.1", recorded)
    shown = await last(api, type="token.created")
    [entry] = await items(api.owner, f"{api.base}/audit-log", operation="createToken")
    assert (entry["address"], entry["agent"]) == (shown["address"], shown["agent"] or "")


@pytest.mark.parametrize(
    ("address", "recorded"),
    [
        ("2001:db8:0:0:0:0:0:7", "2001:db8:0:0:0:0:0:7"),
        ("unknown\x1b[2J" + "x" * 500, "unknown?[2J" + "x" * 53),
        ("", None),
    ],
)
async def test_what_a_proxy_says_is_recorded_without_control_characters_and_cut(
    api: Api, address: str, recorded: str | None
) -> None:
    token = await api.owner.post(f"{api.base}/tokens", json={"name": "ci", "role": "owner"})
    caller = api.client(token.json()["token"], address=address)
    assert (await caller.post(f"{api.base}/tokens", json={"name": "by-ci", "role": "viewer"})).status_code == 201
    assert (await last(api, type="token.created"))["address"] == recorded


async def test_whoever_joins_or_signs_in_is_in_the_event_of_it(api: Api) -> None:
    invited = await api.owner.post(f"{api.base}/invitations", json={"email": "bob@example.com", "role": "viewer"})
    nobody = api.client(address=ADDRESS, **{"User-Agent": AGENT})
    accepted = {"secret": invited.json()["secret"], "password": PASSWORD}
    ok(await nobody.post("/v1/invitations:accept", json=accepted))
    ok(await nobody.post("/v1/login", json={"email": "bob@example.com", "password": PASSWORD}), 201)
    for event in (await last(api, type="member.joined"), await last(api, type="token.created")):
        assert (event["actor"], *origin(event)) == ("bob@example.com", ADDRESS, AGENT, None)


async def test_what_no_request_caused_has_no_address(api: Api) -> None:
    cluster = cluster_id(await api.make_cluster())
    await api.world.execute("UPDATE clusters SET expires_at = app_now() WHERE id = :id", id=cluster)
    await delete_expired_clusters(api.world.database, api.services.settings)
    event = await last(api, type="operation.created")
    assert (event["actor"], *origin(event)) == (None, None, None, "luxembourg-2")


async def test_other_people_s_addresses_are_for_operators_only(api: Api) -> None:
    """An operator acts in a project: its members read who did, and only operators from where."""
    admin = await whoever(api, Role.ADMIN)
    cluster = cluster_id(await api.make_cluster())
    ok(await admin.delete(f"{api.base}/clusters/{cluster}"), 202)
    name = (await admin.get("/v1/whoami")).json()["token"]["name"]
    event = await last(api, type="operation.created")
    assert (event["actor"], *origin(event)) == (name, None, None, "luxembourg-2")
    assert ADDRESS not in (await api.owner.get(f"{api.base}/events?limit=1000")).text
    assert ADDRESS not in (await api.owner.get(f"{api.base}/cloud-events?limit=1000")).text
    assert ADDRESS not in (await api.owner.get(f"{api.base}/events/stream?after=0-0&wait=0")).text

    trace = (await admin.get(f"/v1/operator/requests/{event['request_id']}")).json()
    assert {origin(each) for each in trace["events"]} == {(ADDRESS, AGENT, "luxembourg-2")}
    body = {"reason": "odd", "region": "luxembourg-2", "expires_at": "2126-01-01T00:00:00Z"}
    ok(await admin.post("/v1/operator/freezes", json=body), 201)
    [freeze] = await events(api, admin, OPERATOR_EVENTS, type="freeze.started")
    assert origin(freeze) == (ADDRESS, AGENT, "luxembourg-2")


async def test_operators_see_where_a_project_s_request_came_from(api: Api) -> None:
    caller = await whoever(api, Role.OWNER)
    body = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 2000, "reason": "a larger model"}
    ok(await caller.post(f"{api.base}/quota-requests", json=body), 201)
    assert origin(await last(api, type="quota_request.opened")) == (ADDRESS, AGENT, "luxembourg-2")
    [event] = await events(api, await api.caller(Role.ADMIN), OPERATOR_EVENTS, type="quota_request.opened")
    assert origin(event) == (ADDRESS, AGENT, "luxembourg-2")


async def test_payers_see_addresses_of_their_own_account_only(api: Api) -> None:
    """Webhooks of the account: one made by a payer, one by an administrator."""
    account = str(api.world.project.id)
    path, payer = f"/v1/billing/accounts/{account}", await whoever(api, Role.PAYER)
    admin = await whoever(api, Role.ADMIN)
    for caller in (payer, admin):
        ok(await caller.post(f"{path}/webhooks", json={"url": "https://hooks.example.com/x"}), 201)
    listed = await events(api, payer, f"{path}/events", type="webhook.created")
    assert [origin(each) for each in listed] == [(ADDRESS, AGENT, None), (None, None, None)]
    as_cloud_events = await events(api, payer, f"{path}/cloud-events", type="webhook.created")
    assert [origin(each) for each in as_cloud_events] == [origin(each) for each in listed]
    assert {each["source"] for each in as_cloud_events} == {f"/v1/billing/accounts/{account}"}
    assert "webhook.created" not in {each["type"] for each in await events(api, api.owner, f"{api.base}/events")}


async def test_events_are_listed_as_cloud_events(api: Api) -> None:
    caller = await whoever(api, Role.OWNER)
    await caller.post(f"{api.base}/clusters", json=cluster_json())
    await caller.post(f"{api.base}/tokens", json={"name": "ci", "role": "viewer"})
    plain = await events(api, api.owner, f"{api.base}/events")
    cloud_events = await events(api, api.owner, f"{api.base}/cloud-events")
    assert [each["id"] for each in cloud_events] == [each["id"] for each in plain]
    for event, same in zip(cloud_events, plain, strict=True):
        assert all(re.fullmatch(r"[a-z0-9]{1,20}", name) for name in event), "names of attributes (CloudEvents, 3.1.1)"
        assert event["specversion"] == "1.0"
        assert (event["source"], event["type"]) == (f"/v1/projects/{api.world.project.id}", f"ipucloud.{same['type']}")
        assert event["subject"] == f"{same['subject_type']}/{same['subject_id']}"
        same_event = {"time": same["at"], "datacontenttype": "application/json", "data": same["data"]}
        assert event | same_event == event
        assert (event["operationid"], event["requestid"]) == (same["operation_id"], same["request_id"])
        assert (event["actor"], *origin(event)) == (same["actor"], *origin(same))
    query = {"limit": "1", "order": "created_at"}
    first = (await api.owner.get(f"{api.base}/cloud-events", params=query)).json()
    second = await api.owner.get(f"{api.base}/cloud-events", params=query | {"cursor": first["next_cursor"]})
    assert [*first["items"], *second.json()["items"]] == cloud_events[:2]
    refused = await api.owner.get(f"{api.base}/events", params=query | {"cursor": first["next_cursor"]})
    problem(refused, 400, "invalid_cursor")
    [token] = await events(api, api.owner, f"{api.base}/cloud-events", type="token.created")
    assert token["type"] == "ipucloud.token.created"
    refused = await api.owner.get(f"{api.base}/cloud-events", params={"type": "ipucloud.token.created"})
    problem(refused, 422, "validation_failed")


async def test_cloud_events_of_operators_name_platform_and_project(api: Api) -> None:
    admin = await whoever(api, Role.ADMIN)
    body = {"reason": "odd", "region": None, "expires_at": "2126-01-01T00:00:00Z"}
    assert (await admin.post("/v1/operator/freezes", json=body)).status_code == 201
    request = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 2000, "reason": "a larger model"}
    assert (await api.owner.post(f"{api.base}/quota-requests", json=request)).status_code == 201
    freeze, quota = await events(api, admin, "/v1/operator/cloud-events")
    assert (freeze["source"], freeze["region"], freeze["address"]) == ("/v1/operator", None, ADDRESS)
    assert UUID(freeze["subject"].removeprefix("freeze/"))
    assert (quota["source"], quota["region"]) == (f"/v1/projects/{api.world.project.id}", "luxembourg-2")
    same = await events(api, admin, OPERATOR_EVENTS)
    assert [each["id"] for each in same] == [freeze["id"], quota["id"]]


async def requester(api: Api, operation: dict[str, Any]) -> tuple[str, str | None, bool]:
    """Kind and name of who asked, as everyone in the project reads it, and whether by a token."""
    actor = (await api.owner.get(f"{api.base}/operations/{operation['id']}")).json()["requested_by"]
    return actor["kind"], actor["name"], actor["token_id"] is not None


async def test_an_operation_says_who_asked_for_it(api: Api, admin: httpx.AsyncClient) -> None:
    ann = await person(api, Role.OPERATOR)
    by_ann = await logged_in(api, ann)
    me = (await api.owner.get("/v1/whoami")).json()["token"]["name"]
    operator = (await admin.get("/v1/whoami")).json()["token"]["name"]

    created = await api.make_cluster()
    assert await requester(api, created) == ("token", me, True)
    cluster = f"{api.base}/clusters/{created['target']['id']}"
    deleted = (await by_ann.delete(cluster)).json()
    assert await requester(api, deleted) == ("user", ann.email, True)

    second = await api.make_cluster("second")
    removed = (await admin.delete(f"{api.base}/clusters/{second['target']['id']}")).json()
    assert await requester(api, removed) == ("operator", operator, True)

    third = await api.make_cluster("third")
    await api.world.execute("UPDATE clusters SET expires_at = app_now() WHERE id = :id", id=third["target"]["id"])
    await delete_expired_clusters(api.world.database, api.services.settings)
    [expired, *_] = await items(api.owner, f"{api.base}/operations", kind="cluster.delete")
    assert await requester(api, expired) == ("platform", "expiry", False)
