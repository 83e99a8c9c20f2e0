"""HTTP itself: methods, headers, ids, limits, what is logged and measured."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from unittest import mock

import httpx
import psycopg
import pytest
import structlog

from ipucloud.api import etag, serve
from ipucloud.api.compression import compressed
from ipucloud.api.limits import REFUSED_SECONDS
from ipucloud.catalogue.load import load
from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import new_token
from ipucloud.parts import PARTS
from tests.api.support import PUBLIC_KEY, Api, cluster_id, problem, running
from tests.support.postgres import Database as Scratch
from tests.support.world import World

pytestmark = pytest.mark.anyio

SECRET_QUERY = "canary-in-a-query"


class ManualClock:
    """A clock that a test moves. `refused`: what refusals waited for, which comes at once; other waits have no end."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.refused: list[float] = []

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        if seconds not in {0.0, REFUSED_SECONDS}:
            await asyncio.Event().wait()
        self.refused.append(seconds)


async def test_a_path_tells_all_its_methods(shared_api: Api) -> None:
    for path, methods in {
        f"{shared_api.base}/clusters": "GET, HEAD, OPTIONS, POST",
        f"{shared_api.base}/clusters:estimate": "OPTIONS, POST",
        shared_api.base: "DELETE, GET, HEAD, OPTIONS, PATCH",
        "/v1/whoami": "GET, HEAD, OPTIONS",
        "/livez": "GET, HEAD, OPTIONS",
    }.items():
        refused = await shared_api.owner.request("TRACE", path)
        problem(refused, 405, "method_not_allowed")
        answer = await shared_api.client().options(path)
        assert (answer.status_code, answer.content) == (204, b"")
        assert refused.headers["allow"] == answer.headers["allow"] == methods


async def test_head_is_get_without_a_body(shared_api: Api) -> None:
    for path in (shared_api.base, "/v1/flavors", "/openapi.json", "/livez", "/v1/nothing"):
        read, head = await shared_api.owner.get(path), await shared_api.owner.head(path)
        assert (head.status_code, head.content) == (read.status_code, b"")
        for name in ("content-length", "content-type", "etag"):
            assert head.headers.get(name) == read.headers.get(name) or path == "/v1/nothing"


@pytest.mark.parametrize(
    "path",
    ["/v1", "/v1/", "/v2/whoami", "/v1/whoami/", "/v1/projects/x/clusters/not-an-id", "/v1/%00", "/metrics",
     "/v1/flavors/none", "/v1/regions/0", "/docs/../secret", "/docs/none.js", "/v1/projects/%00/clusters"],
)  # fmt: skip
async def test_what_is_not_there(shared_api: Api, path: str) -> None:
    problem(await shared_api.owner.get(path), 404, "not_found")


async def test_every_answer_has_its_headers(shared_api: Api) -> None:
    answers = [
        await shared_api.owner.get(shared_api.base),
        await shared_api.owner.get("/nothing"),
        await shared_api.client().get("/v1/whoami"),
        await shared_api.owner.options(shared_api.base),
        await shared_api.owner.post(f"{shared_api.base}/clusters", content=b"{", headers={"Content-Type": "text/x"}),
        await shared_api.owner.get("/docs"),
        await shared_api.owner.get("/livez"),
    ]
    assert len({answer.headers["request-id"] for answer in answers}) == len(answers)
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "max-age" in answer.headers["strict-transport-security"]
        assert "server" not in answer.headers
        assert answer.headers["cache-control"] in {"no-store", "private, no-cache"}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("a-request-of-my-own_1", True), ("x" * 64, True), ("short", False),
     ("x" * 65, False), ("a space in it, or two", False)],
)  # fmt: skip
async def test_a_well_formed_request_id_is_kept(api: Api, sent: str, kept: bool) -> None:
    answer = await api.owner.get("/v1/nothing", headers={"Request-Id": sent})
    assert (answer.headers["request-id"] == sent) is kept
    api.owner.headers["Request-Id"] = sent
    assert ((await api.make_cluster())["request_id"] == sent) is kept
    assert problem(answer, 404, "not_found")["request_id"] == answer.headers["request-id"]


async def test_the_page_of_the_reference_needs_nobody_else(shared_api: Api) -> None:
    page = await shared_api.client().get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "//" not in page.text
    for asset in ("/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css", "/docs/start.js", "/docs/favicon.png"):
        assert (await shared_api.client().get(asset)).status_code == 200
        assert asset in page.text
    document = await shared_api.client().get("/openapi.json")
    assert document.json()["openapi"].startswith("3.1")


async def test_the_document_is_made_hashed_and_compressed_once(shared_api: Api) -> None:
    """It is megabytes: hundreds who ask at once get the same bytes, and none keeps the process from others."""
    caller = shared_api.client()
    with mock.patch.object(etag, "compressed", side_effect=compressed) as compress:
        answers = await asyncio.gather(*(caller.get("/openapi.json") for _ in range(8)))
    assert compress.call_count <= 1  # the process may have it already
    first = answers[0]
    assert (first.headers["content-encoding"], first.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert {answer.headers["etag"] for answer in answers} == {first.headers["etag"]}
    plain = await caller.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert (plain.content, plain.headers["etag"]) == (first.content, first.headers["etag"].replace("-gzip", ""))
    for known in (first, plain):
        again = await caller.get("/openapi.json", headers={"If-None-Match": known.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


async def test_pages_count_against_their_address_and_probes_do_not(world: World, database: Scratch) -> None:
    async with running(world, database.app_url, clock=ManualClock(), settings=LIMITS) as api:
        caller = api.client()
        answers = [(await caller.get("/docs")).status_code for _ in range(33)]
        assert answers == [*[200] * 32, 429]
        problem(await caller.get("/openapi.json"), 429, "rate_limited")
        assert (await caller.get("/livez")).status_code == 200
        assert (await api.owner.get("/v1/whoami")).status_code == 429  # nobody knows the token yet


LIMITS = {"rate_limit_per_second": 2.0, "rate_limit_burst": 4}


async def statuses(caller: httpx.AsyncClient, times: int) -> list[int]:
    return [(await caller.get("/v1/whoami")).status_code for _ in range(times)]


async def test_who_asks_too_often_waits(world: World, database: Scratch) -> None:
    clock = ManualClock()
    async with running(world, database.app_url, clock=clock, settings=LIMITS) as api:
        other = api.client((await api.other_project()).token.secret)
        answers = [await api.owner.get("/v1/whoami") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429]
        assert answers[0].headers["ratelimit-policy"] == '"token";q=4;w=2'
        assert [answer.headers["ratelimit"] for answer in answers[:2]] == ['"token";r=3;t=1', '"token";r=2;t=1']
        problem(answers[4], 429, "rate_limited")
        assert answers[4].headers["retry-after"] == "1"
        assert (await other.get("/v1/whoami")).status_code == 200
        assert (await api.owner.get("/livez")).status_code == 200
        clock.at += 0.5
        assert await statuses(api.owner, 2) == [200, 429]
        clock.at += 1.0
        assert await statuses(api.owner, 4) == [200, 200, 429, 429]
        assert clock.refused == [0.0, 1.0, 0.0, 1.0], "who asks again at once waits for the next refusal"
        assert await statuses(api.client("nonsense", address="192.0.2.1"), 5) == [401, 401, 401, 401, 429]


@pytest.mark.parametrize(
    ("addresses", "together"),
    [
        (["192.0.2.1", "192.0.2.1"], True),
        (["192.0.2.1", "192.0.2.2"], False),
        (["::ffff:192.0.2.1", "192.0.2.1"], True),
        (["2001:db8:0:1::1", "2001:db8:0:1:ffff::2"], True),
        (["2001:db8:0:1::1", "2001:db8:0:2::1"], False),
    ],
)
async def test_made_up_tokens_count_against_the_address(
    world: World, database: Scratch, addresses: list[str], together: bool
) -> None:
    async with running(world, database.app_url, clock=ManualClock(), settings=LIMITS) as api:
        first, second = addresses
        answers = [await api.client(new_token("test").secret, address=first).get("/v1/whoami") for _ in range(600)]
        assert [answer.status_code for answer in answers] == [401] * 4 + [429] * 596
        assert answers[0].headers["ratelimit-policy"] == '"address";q=4;w=2'
        problem(answers[4], 429, "rate_limited")
        (status,) = await statuses(api.client(new_token("test").secret, address=second), 1)
        assert status == (429 if together else 401)


async def test_a_token_that_was_accepted_does_not_suffer_from_its_neighbours(world: World, database: Scratch) -> None:
    async with running(world, database.app_url, clock=ManualClock(), settings=LIMITS) as api:
        assert await statuses(api.owner, 1) == [200]
        assert await statuses(api.client(new_token("test").secret), 4) == [401, 401, 401, 429]
        assert await statuses(api.owner, 4) == [200, 200, 200, 429]


async def test_the_tokens_of_a_project_have_one_limit_together(world: World, database: Scratch) -> None:
    """A viewer's many tokens and sessions get no more than one; other projects, and operators, have their own."""
    limits = {"project_rate_limit_per_second": 2.0, "project_rate_limit_burst": 12}
    async with running(world, database.app_url, clock=ManualClock(), settings=limits) as api:
        path, other = f"{api.base}/clusters", await api.other_project()
        tokens = [
            await api.owner.post(f"{api.base}/tokens", json={"name": f"ci-{n}", "role": "viewer"}) for n in range(6)
        ]
        viewers = [api.client(each.json()["token"], address=f"192.0.2.{n}") for n, each in enumerate(tokens)]
        first = [(await each.get(path)).status_code for each in viewers]
        assert first == [200] * 6, "the first request of each shows whose it is"
        answers = [await each.get(path) for each in viewers * 2]
        assert [each.status_code for each in answers] == [200] * 7 + [429] * 5
        refused = problem(answers[-1], 429, "rate_limited")
        assert refused["detail"]
        assert answers[-1].headers["ratelimit-policy"] == '"project";q=12;w=6'
        assert (await api.client(other.token.secret).get(f"/v1/projects/{other.slug}/clusters")).status_code == 200
        operator = await api.caller(Role.SUPPORT)
        assert [(await operator.get(path)).status_code for _ in range(14)] == [200] * 14


async def test_a_revoked_token_counts_against_its_address_again(world: World, database: Scratch) -> None:
    async with running(world, database.app_url, clock=ManualClock(), settings=LIMITS) as api:
        token = (await api.owner.post(f"{api.base}/tokens", json={"name": "ci", "role": "viewer"})).json()
        caller = api.client(token["token"], address="192.0.2.1")
        assert await statuses(caller, 1) == [200]
        assert (await api.owner.delete(f"{api.base}/tokens/{token['id']}")).status_code == 204
        first, *others = [await caller.get("/v1/whoami") for _ in range(5)]
        assert first.headers["ratelimit-policy"].startswith('"token"')
        assert [answer.status_code for answer in (first, *others)] == [401, 401, 401, 401, 429]
        assert others[0].headers["ratelimit-policy"].startswith('"address"')


async def test_no_answer_of_the_router_makes_a_token_known(world: World, database: Scratch) -> None:
    async with running(world, database.app_url, clock=ManualClock(), settings=LIMITS) as api:
        caller = api.client(new_token("test").secret)
        for method, path in (("OPTIONS", "/v1/whoami"), ("TRACE", "/v1/whoami"), ("GET", "/v1/nothing")):
            answer = await caller.request(method, path)
            assert answer.headers["ratelimit-policy"].startswith('"address"')
        assert await statuses(caller, 2) == [401, 429]


async def test_the_log_names_objects_and_no_secrets(api: Api) -> None:
    secret = api.world.project.token.secret
    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        operation = await api.make_cluster(user_data="#cloud-config canary-in-user-data")
        await api.owner.get(f"{api.base}/clusters", params={"name": SECRET_QUERY})
        await api.owner.get(f"{api.base}/operations/{operation['id']}")
        token = (await api.owner.post(f"{api.base}/tokens", json={"name": "ci", "role": "viewer"})).json()
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests] == [202, 200, 200, 201]
    assert len({line["request_id"] for line in requests}) == 4
    assert requests[0]["cluster_id"] == str(cluster_id(operation))
    assert requests[0]["project_id"] == str(api.world.project.id)
    assert requests[2]["operation_id"] == operation["id"]
    text = repr(lines)
    for hidden in (secret, token["token"], SECRET_QUERY, "canary-in-user-data"):
        assert hidden not in text


async def test_a_fault_is_logged_with_its_place_and_without_the_input(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ipucloud.identity.key_store.new_id", lambda: "canary-no-uuid")
    with structlog.testing.capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        body = {"name": "canary", "public_key": PUBLIC_KEY}
        answer = await api.owner.post(f"{api.base}/ssh-keys", json=body)
    assert problem(answer, 500, "internal_error")["retryable"]
    assert "canary" not in answer.text
    (fault,) = [line for line in lines if line["event"] == "fault"]
    assert any("key_store.py" in frame for frame in fault["frames"])
    assert fault["request_id"] == answer.headers["request-id"]
    assert "canary" not in repr(lines)


async def test_measurements_name_routes_and_nobody(api: Api) -> None:
    operation = await api.make_cluster()
    for path in (f"clusters/{cluster_id(operation)}", "clusters", "nothing"):
        await api.owner.get(f"{api.base}/{path}")
    await api.owner.request("BREW", "/v1/whoami")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=serve.internal_app(api.app)), base_url="http://internal"
    ) as internal:
        text = (await internal.get("/metrics")).text
        known = {"status": "ready", "catalogue": load().digest, "parts": [part.name for part in PARTS]}
        assert (await internal.get("/readyz")).json() == known
        assert (await internal.get("/livez")).json() == {"status": "alive"}
    for labels in (
        'http_request_method="POST",http_response_status_code="202",http_route="/v1/projects/{project}/clusters"',
        'http_request_method="GET",http_response_status_code="200",http_route="/v1/projects/{project}/clusters/{cluster}"',
        'http_request_method="GET",http_response_status_code="404",http_route=""',
        'http_request_method="_OTHER",http_response_status_code="405",http_route="/v1/whoami"',
    ):
        assert f"http_server_request_duration_seconds_count{{{labels}}} 1.0" in text
    assert api.world.project.slug not in text
    assert str(cluster_id(operation)) not in text


async def test_readiness_wants_the_schema_that_the_code_needs(world: World, database: Scratch) -> None:
    clock = ManualClock()
    async with running(world, database.app_url, clock=clock) as api:
        with psycopg.connect(database.owner_url, autocommit=True) as connection:
            connection.execute("UPDATE alembic_version SET version_num = 'of tomorrow'")
            assert (await api.owner.get("/readyz")).json() == {"status": "ready"}
            connection.execute("DELETE FROM alembic_version")
        assert (await api.owner.get("/readyz")).status_code == 200  # looked at a moment ago
        clock.at += 2.0
        answer = await api.owner.get("/readyz")
        problem(answer, 503, "unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        assert (await api.owner.get("/livez")).status_code == 200
        with psycopg.connect(database.owner_url, autocommit=True) as connection:
            connection.execute("DROP TABLE alembic_version")  # as in a database that was never migrated
        clock.at += 2.0
        problem(await api.owner.get("/readyz"), 503, "unavailable")
