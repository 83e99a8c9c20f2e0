"""Streams of events, at a server of their own: what is sent, who may stay, and when they end."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import UUID

import httpx
import pytest

from ipucloud.client.streaming import Message, Messages
from ipucloud.contract.event_payloads.money import TopUpPaused
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.events.log import record_for_account
from ipucloud.identity.roles import Role
from tests.api.support import Api, items, problem
from tests.support.api_process import ApiProcess, api_process
from tests.support.feed import settled
from tests.support.plain import NOBODY
from tests.support.postgres import Database as Scratch
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.anyio


async def signed(api: Api, role: Role) -> tuple[httpx.AsyncClient, str]:
    """A caller with a new token of the role, and the token."""
    caller = await api.caller(role)
    return caller, caller.headers["Authorization"].removeprefix("Bearer ")


@contextmanager
def opened(server: ApiProcess, api: Api, *, secret: str = "", **query: str) -> Iterator[Iterator[Message]]:
    """The messages of a stream; `query`: parameters, the header `last_event_id`, and another `path`."""
    headers = {"Authorization": f"Bearer {secret or api.world.project.token.secret}"}
    if last := query.pop("last_event_id", ""):
        headers["Last-Event-ID"] = last
    url = f"http://127.0.0.1:{server.port}{query.pop('path', f'{api.base}/events/stream')}"
    with httpx.stream(
        "GET", url, params=query, headers=headers, timeout=PATIENCE, trust_env=False, verify=NOBODY
    ) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert (answer.headers["cache-control"], answer.headers["x-accel-buffering"]) == ("no-store", "no")
        parser = Messages()
        yield (message for piece in answer.iter_bytes() for message in parser.of(piece))


def documents(messages: list[Message]) -> list[dict[str, object]]:
    assert all(message.data for message in messages)
    events = [json.loads(message.data) for message in messages]
    assert [(message.id, message.event) for message in messages] == [(each["id"], each["type"]) for each in events]
    return events


async def test_what_happens_is_sent_and_a_stream_goes_on_after_any_event(api: Api, database: Scratch) -> None:
    with api_process({"database_pool_size": 1}, url=database.app_url) as server, opened(server, api) as live:
        assert next(live).data == b""  # only an id to go on after
        await api.make_cluster()
        await settled(api.world.database)
        query = {"order": "created_at", "limit": "1000"}
        log = (await api.owner.get(f"{api.base}/events", params=query)).json()["items"]
        new = [each for each in log if each["request_id"] is not None]
        assert documents([next(live) for _ in new]) == new
        with opened(server, api, after=log[0]["id"], wait="0") as rest:
            assert documents([*rest][1:]) == log[1:]
        with opened(server, api, after="0-0", last_event_id=log[-2]["id"], wait="0") as rest:
            assert documents([*rest][1:]) == log[-1:]
        unknown = [{"last_event_id": "first"}, {"last_event_id": "1-1"}, {"after": f"{10**17}-0"}, {"after": "1-1"}]
        for position in unknown:
            with opened(server, api, wait="0", **position) as rest:
                gap, *others = rest
                assert (gap.event, gap.data, others) == ("gap", b"{}", [])
                start = str(gap.id)
            with opened(server, api, wait="0", after=start) as rest:
                assert [message.data for message in rest] == [b""]
        path, headers = f"{api.base}/events/stream", {"Authorization": f"Bearer {api.world.project.token.secret}"}
        problem(server.outside.get(path, params={"after": "1-"}, headers=headers), 422, "validation_failed")
        assert server.outside.head(path, headers=headers).status_code == 200


async def test_operators_have_a_stream_of_what_they_read(api: Api, database: Scratch) -> None:
    admin, secret = await signed(api, Role.ADMIN)
    stream: dict[str, str] = {"path": "/v1/operator/events/stream", "secret": secret}
    with api_process({"database_pool_size": 1}, url=database.app_url) as server, opened(server, api, **stream) as live:
        next(live)
        await api.make_cluster()
        freeze = {"region": "luxembourg-2", "reason": "odd answers", "expires_at": "2126-01-01T00:00:00Z"}
        freeze = (await admin.post("/v1/operator/freezes", json=freeze)).json()
        await admin.post(f"/v1/operator/freezes/{freeze['id']}:end", json={"reason": "they are right"})
        await settled(api.world.database)
        log = await items(admin, "/v1/operator/events", order="created_at")
        assert [each["type"] for each in log] == ["freeze.started", "freeze.ended"]
        assert documents([next(live), next(live)]) == log
        with opened(server, api, after=log[0]["id"], wait="0", **stream) as rest:
            assert documents([*rest][1:]) == log[1:]
        [of_project] = await items(api.owner, f"{api.base}/events", type="cluster.created")
        with opened(server, api, after=of_project["id"], wait="0", **stream) as rest:
            assert [message.event for message in rest] == ["gap"]


async def test_a_payer_has_a_stream_of_the_account(api: Api, database: Scratch) -> None:
    payer, secret = await signed(api, Role.PAYER)
    account = (await payer.get("/v1/me")).json()["token"]["account_id"]
    stream: dict[str, str] = {"path": f"/v1/billing/accounts/{account}/events/stream", "secret": secret}
    async with api.world.database.begin() as connection:
        paused = TopUpPaused(reason="month_limit", detail="The next one would exceed the month's limit.")
        kind, owner = REGISTRY["account.top_up_paused"], UUID(account)
        await record_for_account(connection, kind, account_id=owner, subject_id=owner, data=paused)
    await settled(api.world.database)
    log = await items(payer, f"/v1/billing/accounts/{account}/events")
    with api_process({"database_pool_size": 1}, url=database.app_url) as server:
        with opened(server, api, after="0-0", wait="0", **stream) as rest:
            assert documents([*rest][1:]) == log
        other = stream | {"path": f"/v1/billing/accounts/{UUID(int=1)}/events/stream"}
        answer = server.outside.get(other["path"], headers={"Authorization": f"Bearer {secret}"})
        problem(answer, 404, "not_found")


async def test_streams_are_few_and_end_with_their_token_and_their_server(api: Api, database: Scratch) -> None:
    other = await api.owner.post(f"{api.base}/tokens", json={"name": "other", "role": "viewer"})
    limits = {"streams_per_project": 3, "stream_limit": 4, "database_pool_size": 1}
    neighbour = await api.other_project()
    with api_process(limits, url=database.app_url) as server, ExitStack() as stack:
        path, own = f"{api.base}/events/stream", {"Authorization": f"Bearer {api.world.project.token.secret}"}
        first, second = [stack.enter_context(opened(server, api)) for _ in range(2)]
        third = stack.enter_context(opened(server, api, secret=other.json()["token"]))
        for each in (first, second, third):
            next(each)
        others = {"Authorization": f"Bearer {other.json()['token']}"}
        for headers in (own, others):  # a project has its limit, however many tokens it has
            refused = server.outside.get(path, headers=headers)
            assert problem(refused, 429, "too_many_connections")["limit"] == 3
            assert refused.headers["retry-after"]
        elsewhere = {"path": f"/v1/projects/{neighbour.slug}/events/stream", "secret": neighbour.token.secret}
        with opened(server, api, **elsewhere) as fourth:
            next(fourth)
            headers = {"Authorization": f"Bearer {neighbour.token.secret}"}
            problem(server.outside.get(elsewhere["path"], headers=headers), 503, "unavailable")
            assert "event_streams 4.0" in server.inside.get("/metrics").text
        assert (await api.owner.delete(f"{api.base}/tokens/{other.json()['id']}")).status_code < 300
        assert [message.event for message in third] == []
        assert next(first).event == next(second).event == "token.revoked"
        eventually(lambda: "event_streams 2.0" in server.inside.get("/metrics").text, "its place is free")
        server.process.send_signal(signal.SIGTERM)
        assert [*first] == [*second] == []
        assert server.process.wait(60) == 0
