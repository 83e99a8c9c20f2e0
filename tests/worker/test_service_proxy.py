"""Requests to services: a real client, the API as a process, a worker, and programs behind real SSH."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import httpx
import pytest

from ipucloud.programs.services.requests import forget_requests
from tests.support.api_process import ApiProcess, api_process
from tests.support.machine import Need, needs
from tests.support.plain import NOBODY
from tests.support.postgres import TestServer
from tests.support.site import RunningSite
from tests.support.waiting import PATIENCE, until
from tests.support.world import SiteWorld, open_site_world
from tests.worker.test_services import became, serve

pytestmark = [pytest.mark.anyio, needs(Need.SANDBOX)]

LARGE = 3_000_000
PROGRAM = f"""
import http.server, json, os, threading
go = threading.Event()
held = []
RAW = {{
    "/000": b"HTTP/1.1 000 Nothing\\r\\nContent-Length: 0\\r\\n\\r\\n",
    "/099": b"HTTP/1.1 099 Nothing\\r\\nContent-Length: 0\\r\\n\\r\\n",
    "/101": b"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: x\\r\\nConnection: upgrade\\r\\n\\r\\n",
    "/600": b"HTTP/1.1 600 Beyond\\r\\nContent-Length: 0\\r\\n\\r\\n",
    "/999": b"HTTP/1.1 999 Beyond\\r\\nContent-Length: 0\\r\\n\\r\\n",
    "/bell": b"HTTP/1.1 200 OK\\r\\nX-Bell: a\\x07b\\r\\nContent-Length: 0\\r\\n\\r\\n",
    "/long": b"HTTP/1.1 200 OK\\r\\nContent-Length: " + b"9" * 5000 + b"\\r\\n\\r\\n",
    "/304": b"HTTP/1.1 304 Not Modified\\r\\nContent-Length: 5\\r\\n\\r\\n",
}}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self, status, *parts, **headers):
        self.send_response(status)
        self.send_header("Transfer-Encoding", "chunked")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        for part in parts:
            part = part() if callable(part) else part
            self.wfile.write(b"%x\\r\\n%s\\r\\n" % (len(part), part))
        self.wfile.write(b"0\\r\\n\\r\\n")
    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)
    def do_GET(self):
        if self.path == "/large":
            self.answer(200, *[b"x" * 100_000] * {LARGE // 100_000})
        elif self.path == "/wait":
            self.answer(200, b"first", lambda: go.wait() and b"last")
        elif self.path == "/go":
            go.set()
            self.answer(200)
        elif self.path == "/held":
            self.answer(200, b"%d" % len(held))
        elif self.path == "/hold":
            self.hold()
        elif self.path == "/slow":
            threading.Event().wait()
        elif self.path == "/broken":
            self.wfile.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000\\r\\n\\r\\nnot all")
            self.close_connection = True
        elif self.path in RAW:
            self.wfile.write(RAW[self.path])
            self.close_connection = True
        elif self.path == "/page":
            self.answer(200, b"<script>", Content_Type="text/html", Set_Cookie="a=b", Access_Control_Allow_Origin="*",
                        Content_Security_Policy="script-src *", X_Own="mine", Connection="X-Hop", X_Hop="no")
        elif self.path == "/denied":
            self.answer(401, WWW_Authenticate="Basic")
        elif self.path == "/missing":
            self.answer(404, b"none of mine", Content_Type="text/plain")
        else:
            self.do_POST()
    def do_POST(self):
        if self.path == "/hold":
            self.answer(200, b"first", self.hold)
        text = dict(method=self.command, path=self.path, headers=self.headers.items(), body=self.body().decode())
        self.answer(200, json.dumps(text).encode(), Content_Type="application/json")
    do_DELETE = do_POST
    def do_PUT(self):
        self.hold()
    def hold(self):
        held.append(self)
        threading.Event().wait()
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
CLOSES = """
import os, socket
listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
while True:
    listener.accept()[0].close()
"""
MANY: dict[str, object] = {"rate_limit_per_second": 1_000_000, "rate_limit_burst": 1_000_000}


@dataclass
class Served:
    """Services of a cluster, a worker, and an API process."""

    world: SiteWorld
    api: ApiProcess
    url: str
    cluster: UUID

    def path(self, service: str, path: str = "") -> str:
        return f"/v1/projects/{self.world.project.slug}/clusters/{self.cluster}/services/{service}/proxy/{path}"

    @property
    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.world.project.token.secret}"}

    def client(self, api: ApiProcess | None = None) -> httpx.AsyncClient:
        base = f"http://127.0.0.1:{(api or self.api).port}"
        return httpx.AsyncClient(base_url=base, headers=self.token, timeout=PATIENCE, trust_env=False, verify=NOBODY)


@pytest.fixture(scope="module")
async def served(postgres: TestServer, site: RunningSite) -> AsyncIterator[Served]:
    with postgres.fresh_database() as scratch:
        async with open_site_world(scratch, site) as world, world.worker():
            cluster = await world.build()
            programs = {
                "chat": ["python3", "-c", PROGRAM],
                "closes": ["python3", "-c", CLOSES],
                "silent": ["sleep", "100000"],
                "counted": ["python3", "-c", PROGRAM],
            }
            for number, (name, command) in enumerate(programs.items()):
                service = await serve(world, cluster, command, name=name, port=8000 + number)
                await became(world, service, "running")
            with api_process(MANY, url=scratch.app_url) as api:
                services = Served(world, api, scratch.app_url, cluster)
                async with services.client() as client:
                    for name in ("chat", "closes"):
                        await until(partial(_listens, client, services.path(name, "ready")), f"{name} listens")
                yield services
            await world.delete_all()


async def _listens(client: httpx.AsyncClient, path: str) -> bool:
    return "Nothing listens" not in (await client.get(path)).text


async def test_requests_and_answers_pass_and_credentials_do_not(served: Served) -> None:
    async with served.client() as client:
        sent = {"Cookie": "c=d", "X-Own": "mine", "X-Forwarded-For": "1.2.3.4", "Connection": "X-Hop", "X-Hop": "no"}
        for method, content in (("GET", None), ("POST", b"a body"), ("DELETE", None)):
            path = served.path("chat", "a%2Fb//c?q=%20&r")
            answer = await client.request(method, path, content=content, headers=sent)
            assert answer.status_code == 200, answer.text
            received = answer.json()
            assert (received["method"], received["path"]) == (method, "/a%2Fb//c?q=%20&r")
            assert received["body"] == (content or b"").decode()
            headers = {name.lower(): value for name, value in received["headers"]}
            assert not {"authorization", "cookie", "x-forwarded-for", "x-hop"} & headers.keys()
            assert (headers["x-own"], headers["host"]) == ("mine", "127.0.0.1:8000")
            assert headers["x-forwarded-prefix"] + "/" == served.path("chat")
            assert headers["request-id"] == answer.headers["Request-Id"]
        assert (await client.post(served.path("chat"), content=_parts())).json()["body"] == "x" * 12
        page = await client.get(served.path("chat", "page"))
        assert (page.text, page.headers["X-Own"]) == ("<script>", "mine")
        assert "sandbox" in page.headers["Content-Security-Policy"]
        assert page.headers.get_list("X-Content-Type-Options") == ["nosniff"]
        assert not {"set-cookie", "access-control-allow-origin", "x-hop"} & set(page.headers)
        missing = await client.get(served.path("chat", "missing"))
        assert (missing.status_code, missing.text) == (404, "none of mine")
        denied = await client.get(served.path("chat", "denied"))
        assert (denied.status_code, "www-authenticate" in denied.headers) == (401, False)
        known = await client.get("/v1/whoami")
        assert not known.headers["ratelimit-policy"].startswith('"address"')  # that 401 says nothing of the token
        head = await client.head(served.path("chat", "large"))
        assert (head.status_code, head.content) == (501, b"")  # the program has no HEAD: it was asked for that
        entries = "SELECT count(*) FROM audit_log WHERE operation = 'requestService' AND status = 200"
        assert await served.world.value(entries) == 3  # POST, DELETE and POST


async def test_an_answer_is_passed_on_as_it_is_made(served: Served) -> None:
    async with served.client() as client:
        async with client.stream("GET", served.path("chat", "wait")) as answer:
            parts = answer.aiter_raw()
            assert await anext(parts) == b"first"
            assert (await client.get(served.path("chat", "go"))).status_code == 200
            assert b"".join([part async for part in parts]) == b"last"
        assert len((await client.get(served.path("chat", "large"))).content) == LARGE
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(served.path("chat", "broken"))


async def test_what_gives_no_answer_is_named(served: Served) -> None:
    async with served.client() as client:
        for name, sentence in (("silent", "Nothing listens on 127.0.0.1:8002"), ("closes", "gave no answer")):
            answer = await client.get(served.path(name))
            assert (answer.status_code, answer.json()["code"]) == (502, "service_unreachable")
            assert sentence in answer.json()["detail"]
        for path in ("000", "099", "101", "600", "999", "bell", "long"):
            answer = await client.get(served.path("chat", path))
            assert (answer.status_code, answer.json()["code"]) == (502, "service_unreachable"), path
            assert "gave no answer" in answer.json()["detail"]
        assert (await client.get(served.path("chat", "304"))).status_code == 304
    limits = {**MANY, "service_timeout": 1, "service_request_limit": 1, "service_body_limit": 10}
    with api_process(limits, url=served.url) as api:
        async with served.client(api) as client:
            slow = served.path("chat", "slow")
            answers = [each.json() for each in await asyncio.gather(client.get(slow), client.get(slow))]
            assert {each["code"] for each in answers} == {"service_timeout", "too_many_connections"}
            assert {each["status"] for each in answers} == {504, 429}
            assert all("service chat" in each["detail"] for each in answers)
            for content in (b"x" * 11, _parts()):
                large = await client.post(served.path("chat"), content=content)
                assert (large.status_code, large.json()["code"]) == (413, "body_too_large")


async def test_who_hangs_up_leaves_their_place_to_others(served: Served) -> None:
    limits = {**MANY, "service_timeout": 3600, "body_timeout": 3600, "service_request_limit": 1}
    with api_process(limits, url=served.url) as api:
        async with served.client(api) as client, served.client() as other:

            async def free() -> bool:
                return (await client.get(served.path("chat", "missing"))).status_code == 404

            async def hang_up(number: int, method: str, body: Callable[[], AsyncIterator[bytes]] | None) -> None:
                waiting: list[asyncio.Task[httpx.Response]] = []

                async def arrived() -> bool:
                    if not waiting or waiting[-1].done():  # refused: whoever had the place just now is not quite gone
                        content = body() if body is not None else b"whole"
                        sent = client.request(method, served.path("chat", "hold"), content=content)
                        waiting.append(asyncio.create_task(sent))
                    return bool((await other.get(served.path("chat", "held"))).json() == number)

                await until(arrived, "the program has the request")
                assert not await free()
                waiting[-1].cancel()

            cases = [("GET", None), ("PUT", None), ("PUT", _unfinished), ("POST", None)]
            for number, (method, body) in enumerate(cases, start=1):
                await hang_up(number, method, body)
                await until(free, "a place is free")


async def _unfinished() -> AsyncIterator[bytes]:
    yield b"not all"
    await asyncio.Event().wait()


async def _parts() -> AsyncIterator[bytes]:
    for _ in range(2):
        yield b"x" * 6


async def test_requests_are_counted_with_their_errors_and_times(served: Served) -> None:
    project = f"/v1/projects/{served.world.project.slug}"
    services = f"{project}/clusters/{served.cluster}/services"
    statuses: list[int] = []
    async with served.client() as client:

        async def ask(path: str, method: str = "GET") -> str:
            answer = await client.request(method, served.path("counted", path))
            statuses.append(answer.status_code)
            return answer.text

        async def listens() -> bool:
            return "Nothing listens" not in await ask("ready")

        async def points() -> list[dict[str, float]]:
            return list((await client.get(f"{services}/counted/metrics")).json()["points"])

        async def written() -> bool:
            return sum(each["requests"] for each in await points()) == len(statuses)

        await until(listens, "the program listens")
        for path in ("a", "missing", "denied"):
            await ask(path)
        await ask("large", "HEAD")  # the program has no HEAD, and says 501
        failed = sum(status >= 500 for status in statuses)
        await until(written, "the requests are written")
        minutes = [each for each in await points() if each["requests"]]
        assert sum(each["errors"] for each in minutes) == failed >= 1
        assert all(0 < each["p50_seconds"] <= each["p95_seconds"] <= each["p99_seconds"] for each in minutes)
        text = (await client.get(f"{project}/metrics")).text
        of = f'cluster="bert",cluster_id="{served.cluster}",service="counted"'
        assert f"ipucloud_service_request_errors_total{{{of}}} {failed}.0" in text
        assert f"ipucloud_service_request_duration_seconds_count{{{of}}} {len(statuses)}.0" in text
        unknown = await client.get(f"{services}/nobody/metrics")
        assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
        future = await client.get(f"{services}/counted/metrics", params={"since": "2999-01-01T00:00:00Z"})
        assert future.json()["errors"][0]["code"] == "not_a_period"
    await forget_requests(served.world.database, kept=0.0)
    assert await served.world.value("SELECT count(*) FROM service_requests WHERE minute < app_now()") == 0
    assert await served.world.value("SELECT max(requests) FROM service_request_totals") > 0


async def test_the_login_leaves_no_key_and_no_event(served: Served) -> None:
    async with served.client() as client:
        await client.get(served.path("chat", "missing"))
    no_key = "SELECT count(*) = 0 FROM terminals WHERE key_seen_at IS NOT NULL AND key_gone_at IS NULL"
    await until(lambda: served.world.value(no_key), "every key was taken away")
    assert await served.world.value("SELECT count(*) FROM terminals WHERE purpose = 'services'") > 0
    assert await served.world.value("SELECT count(*) FROM events WHERE type LIKE 'terminal.%'") == 0


async def test_a_service_answers_again_after_its_server_was_off(served: Served) -> None:
    async with served.client() as client:

        async def answers() -> bool:
            return (await client.get(served.path("chat", "missing"))).text == "none of mine"

        assert await answers()
        await served.world.succeeded(await served.world.suspend(served.cluster))
        off = await client.get(served.path("chat"))
        assert (off.status_code, off.json()["code"]) == (409, "state_conflict")
        assert "The cluster of the service chat is suspended." in off.json()["detail"]
        await served.world.succeeded(await served.world.resume(served.cluster))
        await until(answers, "the program answers")
