"""What a program that uses the SDK can rely on, against a real HTTP server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest

from ipucloud.client import (
    ApiError,
    AsyncClient,
    Client,
    EventGapError,
    OperationFailedError,
    Retry,
    UnexpectedAnswerError,
    UnreachableError,
    UsageError,
    WaitTimeoutError,
    clusters,
    events,
    operations,
    regions,
    ssh_keys,
    tokens,
)
from ipucloud.client.clusters import NewCluster
from ipucloud.client.models import Cluster, ClusterState, Event, Operation
from tests.support.filled_in import component
from tests.support.scripted import HANG_UP, Reply, Service, page, problem

OPERATION = {
    "id": "0190-op",
    "kind": "cluster.create",
    "target": {"type": "cluster", "id": "0190-cl"},
    "state": "running",
    "done": False,
    "stage": "NETWORK",
    "progress": 10,
    "request_id": "0190-req",
    "created_at": "2026-01-01T00:00:00Z",
}
CLUSTER = {
    "id": "0190-cl",
    "name": "bert",
    "region": "luxembourg-2",
    "flavor": "m2000-pod16",
    "image": "poplar",
    "state": "active",
    "created_at": "2026-01-01T00:00:00Z",
    "ipus": 16,
    "version": 3,
    "billing": {"status": "running", "minutes": 2, "cost": {"amount": "0.5000000001", "currency": "EUR"}},
}
BUSY = problem(503, "unavailable", "Try again.", retryable=True)
BERT = NewCluster("bert", region="luxembourg-2", flavor="m2000-pod16", image="poplar", ssh_keys=["laptop"])


class Sleeps:
    """Takes the place of time: remembers every pause, and its clock moves only by them."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def clock(self) -> float:
        return sum(self.pauses)


@pytest.fixture
def sleeps() -> Sleeps:
    return Sleeps()


@pytest.fixture
def client(service: Service, token: str, sleeps: Sleeps) -> Iterator[Client]:
    retry = Retry(random=lambda: 1.0)
    with Client(service.url, token, project="demo", retry=retry, sleep=sleeps.sleep, clock=sleeps.clock) as client:
        yield client


def test_a_cluster_is_read_with_fields_and_states_that_are_not_known_yet(client: Client, service: Service) -> None:
    service.gives("/v1/projects/demo/clusters/bert", CLUSTER | {"state": "hibernating", "colour": "blue"})
    cluster = client.run(clusters.get("bert"))
    assert cluster.state == "hibernating"
    assert cluster.model_dump()["colour"] == "blue"
    assert cluster.billing is not None
    assert cluster.billing.cost is not None
    assert cluster.billing.cost.amount == Decimal("0.5000000001")


def test_a_repeated_create_carries_the_key_of_the_first_try(client: Client, service: Service, sleeps: Sleeps) -> None:
    path = "/v1/projects/demo/clusters"
    service.on("POST", path, HANG_UP, BUSY, Reply(202, OPERATION))
    operation = client.run(clusters.create(BERT))
    assert operation.id == "0190-op"
    keys = {each.headers["idempotency-key"] for each in service.requests}
    assert len(service.requests) == 3
    assert len(keys) == 1
    assert sleeps.pauses == [0.25, 0.5]
    assert service.requests[0].body["ssh_keys"] == ["laptop"]


def test_two_creates_have_two_keys_and_running_one_twice_has_one(client: Client, service: Service) -> None:
    service.on("POST", "/v1/projects/demo/clusters", Reply(202, OPERATION))
    call = clusters.create(BERT)
    for each in (call, call, clusters.create(BERT)):
        client.run(each)
    first, again, other = (each.headers["idempotency-key"] for each in service.requests)
    assert first == again != other


def test_retry_after_is_obeyed_in_both_its_forms(client: Client, service: Service, sleeps: Sleeps) -> None:
    limited = problem(429, "rate_limited", "Slower.")
    service.on(
        "GET",
        "/v1/regions",
        Reply(429, limited.body, {"Retry-After": "7"}),
        Reply(503, BUSY.body, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}),
        Reply(503, BUSY.body, {"Retry-After": "soon"}),
        Reply(503, BUSY.body, {"Retry-After": "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"}),
        page([]),
    )
    assert client.run(regions.list()).items == []
    assert sleeps.pauses == [7.25, 0.5, 1.0, 2.0]


def test_it_gives_up_after_the_tries_it_was_given(client: Client, service: Service, sleeps: Sleeps) -> None:
    service.on("GET", "/v1/regions", BUSY)
    with pytest.raises(ApiError) as caught:
        client.run(regions.list())
    assert caught.value.code == "unavailable"
    assert len(service.requests) == Retry().attempts
    assert len(sleeps.pauses) == Retry().attempts - 1


def test_a_pause_longer_than_the_budget_is_not_begun(client: Client, service: Service, sleeps: Sleeps) -> None:
    service.on("GET", "/v1/regions", Reply(429, BUSY.body, {"Retry-After": "3600"}))
    with pytest.raises(ApiError) as caught:
        client.run(regions.list())
    assert caught.value.retry_after == 3600
    assert sleeps.pauses == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 412, 422, 500])
def test_other_refusals_are_not_repeated(client: Client, service: Service, status: int) -> None:
    refusal = problem(status, "some_code", "Do this.", errors=[{"pointer": "/name", "code": "bad", "detail": "No."}])
    service.on("POST", "/v1/projects/demo/clusters", refusal)
    with pytest.raises(ApiError) as caught:
        client.run(clusters.create(BERT))
    assert len(service.requests) == 1
    error = caught.value
    assert (error.status, error.code, error.detail, error.request_id) == (status, "some_code", "Do this.", "req-1")
    assert [fault.pointer for fault in error.errors] == ["/name"]
    assert str(error) == "Do this.\n  /name: No.\n  request id req-1"


def test_a_first_request_that_still_runs_is_asked_for_again(client: Client, service: Service) -> None:
    running = problem(409, "idempotency_in_progress", "Still running.", retryable=True)
    service.on("POST", "/v1/projects/demo/clusters", running, Reply(202, OPERATION))
    assert client.run(clusters.create(BERT)).id == "0190-op"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, raw=b"<html>hello</html>"),
        Reply(200, raw=b'{"items": [{"nothing": "known"}]}'),
        Reply(404, raw=b"<html>no</html>"),
        Reply(302, raw=b"", headers={"Location": "https://elsewhere.example/"}),
        Reply(400, ["not", "a", "problem"]),
    ],
)
def test_an_answer_of_something_else_is_said_to_be_one(client: Client, service: Service, reply: Reply) -> None:
    service.on("GET", "/v1/regions", reply)
    with pytest.raises(UnexpectedAnswerError):
        client.run(regions.list())
    assert len(service.requests) == 1


def test_a_service_that_is_not_there(token: str, sleeps: Sleeps) -> None:
    with Client("http://127.0.0.1:1", token, sleep=sleeps.sleep) as client, pytest.raises(UnreachableError) as caught:
        client.run(regions.list())
    assert "127.0.0.1:1" in str(caught.value)
    assert not caught.value.timed_out


def test_the_project_of_the_token_is_found_out_once(service: Service, token: str) -> None:
    service.gives("/v1/whoami", {"role": "owner", "project": {"id": "p", "number": 1, "slug": "mine"}})
    service.lists("/v1/projects/mine/ssh-keys", [])
    service.lists("/v1/projects/other/ssh-keys", [])
    with Client(service.url + "/v1/", token) as client:
        client.run(ssh_keys.list())
        client.run(ssh_keys.list())
        client.run(ssh_keys.list().within("other"))
    own, other = "GET /v1/projects/mine/ssh-keys", "GET /v1/projects/other/ssh-keys"
    assert service.calls() == ["GET /v1/whoami", own, own, other]


def test_a_platform_token_must_name_a_project(service: Service, token: str) -> None:
    service.gives("/v1/whoami", {"role": "admin", "project": None})
    with Client(service.url, token) as client, pytest.raises(UsageError):
        client.run(ssh_keys.list())


def test_a_list_is_read_to_its_end(client: Client, service: Service) -> None:
    path = "/v1/projects/demo/clusters"
    service.on("GET", path, page([CLUSTER], "abc"), page([CLUSTER | {"name": "gpt"}]))
    listed = list(client.items(clusters.list(state="active", tags={"team": "nlp"}, limit=1)))
    assert [cluster.name for cluster in listed] == ["bert", "gpt"]
    assert service.requests[0].query == {"state": "active", "tag.team": "nlp", "limit": "1"}
    assert service.requests[1].query == {"state": "active", "tag.team": "nlp", "limit": "1", "cursor": "abc"}


def test_waiting_follows_an_operation_to_its_end_through_a_restart(client: Client, service: Service) -> None:
    done = OPERATION | {"state": "failed", "done": True, "error": {"code": "site_refused", "detail": "Broken."}}
    service.on("GET", "/v1/projects/demo/operations/0190-op", Reply(body=OPERATION), *[HANG_UP] * 20, Reply(body=done))
    states: list[Operation] = []
    with pytest.raises(OperationFailedError) as caught:
        client.wait("0190-op", states.append)
    assert [each.state for each in states] == ["running", "failed"]
    assert caught.value.operation.error is not None
    assert caught.value.operation.error.code == "site_refused"
    assert str(caught.value) == "cluster.create failed: Broken.\n  operation id 0190-op"
    assert service.requests[0].query == {"wait": "20"}


def test_waiting_ends_when_its_time_is_up(client: Client, service: Service) -> None:
    service.gives("/v1/projects/demo/operations/0190-op", OPERATION)
    with pytest.raises(WaitTimeoutError) as caught:
        client.wait("0190-op", patience=3.0)
    assert caught.value.operation.state == "running"
    assert len(service.requests) == 7


def test_a_change_can_demand_that_nothing_changed_since_it_was_read(client: Client, service: Service) -> None:
    path = "/v1/projects/demo/clusters/bert"
    service.on("GET", path, Reply(body=CLUSTER, headers={"ETag": '"3-ab"'}))
    service.on("PATCH", path, Reply(body=CLUSTER))
    service.on("DELETE", path, problem(412, "precondition_failed", "Read it again."))
    read = client.run_tagged(clusters.get("bert"))
    assert read.value.name == "bert"
    client.run(clusters.update("bert", tags={}, if_match=read.etag))
    with pytest.raises(ApiError):
        client.run(clusters.delete("bert", if_match=read.etag))
    assert [each.headers["if-match"] for each in service.requests[1:]] == ['"3-ab"', '"3-ab"']
    assert service.requests[1].body == {"tags": {}}


def test_names_stay_inside_their_path_segment(client: Client, service: Service) -> None:
    service.gives("/v1/projects/demo/clusters/..%2Fx%3Fy", CLUSTER)
    client.run(clusters.get("../x?y"))
    for name in ("", ".", ".."):
        with pytest.raises(UsageError):
            clusters.get(name)


@pytest.mark.parametrize("url", ["", "ipucloud.example", "ftp://host", "http://", "http://u:p@host", "http://h/?a=b"])
def test_a_url_that_cannot_be_one_is_refused_before_anything_is_sent(url: str, token: str) -> None:
    with pytest.raises(UsageError):
        Client(url, token)


@pytest.mark.parametrize("bad", ["", "two words", "ünïcode", "line\n"])
def test_a_token_that_cannot_be_one_is_refused_and_not_repeated(bad: str) -> None:
    with pytest.raises(UsageError) as caught:
        Client("http://localhost", bad)
    assert not bad or bad not in str(caught.value)


def test_dates_are_sent_in_utc_with_z(client: Client, service: Service) -> None:
    new = tokens.create("ci", "viewer", expires_at=datetime(2027, 1, 1, tzinfo=UTC))
    service.on(
        "POST", "/v1/projects/demo/tokens", Reply(201, {"id": "t", "name": "ci", "role": "viewer", "token": "x"})
    )
    assert client.run(new).token == "x"
    assert service.requests[0].body["expires_at"] == "2027-01-01T00:00:00Z"


def test_a_new_secret_does_not_get_into_logs(client: Client, service: Service) -> None:
    service.on("POST", "/v1/projects/demo/tokens", Reply(201, {"name": "ci", "token": "a-secret"}))
    token = client.run(tokens.create("ci", "viewer"))
    assert token.token == "a-secret"
    assert "a-secret" not in repr(token)


def test_an_older_service_may_lack_what_may_be_null_and_lists() -> None:
    newest = component("Cluster", CLUSTER)
    assert isinstance(newest, dict)
    older = {name: value for name, value in newest.items() if name not in {"state_sla_seconds", "machines", "tags"}}
    cluster = Cluster.model_validate(older)
    assert (cluster.state_sla_seconds, list(cluster.machines), dict(cluster.tags)) == (None, [], {})
    assert cluster.state is ClusterState.ACTIVE


def test_the_async_client_does_the_same(service: Service, token: str) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def customer() -> tuple[list[str], Operation]:
        async with AsyncClient(service.url, token, project="demo", sleep=sleep) as client:
            names = [cluster.name async for cluster in client.items(clusters.list())]
            return names, await client.wait("0190-op")

    more = {"items": [CLUSTER], "next_cursor": "next"}
    service.on("GET", "/v1/projects/demo/clusters", HANG_UP, Reply(body=more), Reply(body=more | {"next_cursor": None}))
    path = "/v1/projects/demo/operations/0190-op"
    service.on("GET", path, BUSY, Reply(body=OPERATION | {"state": "succeeded", "done": True}))
    names, operation = asyncio.run(customer())
    assert names == ["bert", "bert"]
    assert operation.succeeded
    assert len(pauses) == 2


def test_a_stream_goes_on_where_it_ended(client: Client, service: Service, token: str) -> None:
    def sent(*messages: str) -> Reply:
        return Reply(raw="".join(messages).encode(), headers={"Content-Type": "text/event-stream; charset=utf-8"})

    def message(position: str) -> str:
        return f"id: {position}\nevent: cluster.active\ndata: {json.dumps(event | {'id': position})}\n\n"

    event: dict[str, object] = {"type": "cluster.active", "subject_type": "cluster", "subject_id": str(uuid4())}
    event |= {
        "at": "2026-01-01T00:00:00Z",
        "request_id": None,
        "operation_id": None,
        "data": {"reason": "one\u2028line"},
    }
    cut = message("3-9")[:40]
    path = "/v1/projects/demo/events/stream"
    service.on(
        "GET",
        path,
        BUSY,
        sent("id: 1-0\nretry: 1000\n\n"),
        sent(": ping\n\n", message("2-1"), message("2-2"), cut),
        HANG_UP,
        sent(message("3-9")),
        sent("id: 7-0\nevent: gap\ndata: {}\n\n", message("8-1")),
        sent("id: 9-0\nevent: gap\ndata: {}\n\n"),
    )
    gaps: list[None] = []
    stream = client.stream(events.stream(), lambda: gaps.append(None))
    assert [next(stream).id for _ in range(4)] == ["2-1", "2-2", "3-9", "8-1"]
    assert len(gaps) == 1
    positions = [each.headers.get("last-event-id") for each in service.requests]
    assert positions == [None, None, "1-0", "2-2", "2-2", "3-9"]

    async def first() -> Event:
        async with AsyncClient(service.url, token, project="demo") as other:
            return await anext(other.stream(events.stream(after="3-9")))

    with pytest.raises(EventGapError):
        asyncio.run(first())


def test_an_operation_can_be_cancelled(client: Client, service: Service) -> None:
    service.on("POST", "/v1/projects/demo/operations/0190-op:cancel", Reply(202, OPERATION | {"state": "cancelling"}))
    assert client.run(operations.cancel("0190-op")).state == "cancelling"
