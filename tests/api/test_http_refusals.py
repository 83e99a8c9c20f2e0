"""Requests that the HTTP server refuses before the application hears of them: too much, or no HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipucloud.kernel.errors import REGISTRY
from tests.support.api_process import ApiProcess, api_process
from tests.support.waiting import eventually
from tests.support.wire import CHUNKED, ENOUGH, GET, POST, Answer, answers, connected, exchange, flood, next_answer

MEGABYTES = 32
"""What a client that sends without end may cost, at the very most; unlimited it would cost several times as much."""


@pytest.fixture(scope="module")
def server() -> Iterator[ApiProcess]:
    with api_process() as started:
        yield started


def refusal(answer: Answer, status: int, code: str) -> dict[str, object]:
    """The problem document, once everything is as it is with every refusal."""
    document: dict[str, object] = answer.json()
    assert (answer.status, document["status"], document["code"]) == (status, status, code)
    assert (document["title"], document["retryable"]) == (REGISTRY[code].title, REGISTRY[code].retryable)
    assert answer.headers["connection"] == "close"
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "date" in answer.headers
    assert "server" not in answer.headers
    return document


@pytest.mark.parametrize(
    ("begin", "without_end", "answered_before"),
    [
        (GET, b"a: " + b"b" * 1000 + b"\r\n", False),
        (GET + b"a: ", b"b" * 65_536, False),
        (b"GET /", b"b" * 65_536, False),
        (b"", b"\r\n" * 4096, False),
        (POST + CHUNKED + b"0\r\nt: ", b"b" * 65_536, True),
        (POST + CHUNKED + b"1;", b"b" * 65_536, True),
        (POST + CHUNKED, b"1;" + b"b" * 16_000 + b"\r\nx\r\n", True),
    ],
    ids=["header", "line", "path", "newlines", "trailer", "chunk extension", "chunk extensions"],
)
def test_what_never_ends_is_cut_off(
    server: ApiProcess, begin: bytes, without_end: bytes, answered_before: bool
) -> None:
    before, refused = peak_memory(server), server.refused("header_bytes")
    with connected(server.port) as connection:
        connection.sendall(begin)
        if answered_before:  # the path is not there, which is said before the body has come
            assert next_answer(connection).status == 404
        assert flood(connection, without_end) < ENOUGH
        if not answered_before:
            (answer,) = answers(connection)
            assert refusal(answer, 431, "header_too_large")["limit"] == 65_536
    assert server.alive()
    assert server.refused("header_bytes") == refused + 1
    assert peak_memory(server) - before < MEGABYTES


def peak_memory(server: ApiProcess) -> float:
    """Megabytes that the process ever had resident."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    peak = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    assert peak is not None
    return int(peak[1]) / 1024


@pytest.mark.parametrize(
    ("request_", "reason", "status", "code"),
    [
        (GET + b"a:b\r\n" * 5_000 + b"\r\n", "header_count", 431, "header_too_large"),
        (GET + b"a: " + b"b" * 20_000 + b"\r\n\r\n", "header_line", 431, "header_too_large"),
        (b"GET /?" + b"b" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", "header_line", 431, "header_too_large"),
        (GET + (b"a: " + b"b" * 10_000 + b"\r\n") * 7 + b"\r\n", "header_bytes", 431, "header_too_large"),
        (GET + (b"a: " + b"b" * 10_000 + b"\r\n") * 30 + b"\r\n", "header_bytes", 431, "header_too_large"),
        (b"GET /livez HTTP/1.1\r\n\r\n", "host", 400, "malformed_request"),
        (GET + b"Host: y\r\n\r\n", "host", 400, "malformed_request"),
        (b"\x16\x03\x01 hello\r\n\r\n", "malformed", 400, "malformed_request"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "malformed", 400, "malformed_request"),
        (GET + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "malformed", 400, "malformed_request"),
        (GET + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "malformed", 400, "malformed_request"),
        (b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", "malformed", 400, "malformed_request"),
        (b"CONNECT example.org HTTP/1.1\r\nHost: x\r\n\r\n", "malformed", 400, "malformed_request"),
    ],
)  # fmt: skip
def test_what_is_too_much_or_no_http(server: ApiProcess, request_: bytes, reason: str, status: int, code: str) -> None:
    before = server.refused(reason)
    (answer,) = exchange(server.port, request_)
    refusal(answer, status, code)
    assert b"bbbb" not in answer.body
    assert server.refused(reason) == before + 1


@pytest.mark.parametrize(
    "request_",
    [
        GET + b"a: " + b"b" * 16_000 + b"\r\nConnection: close\r\n\r\n",
        GET + b"a:b\r\n" * 90 + b"Connection: close\r\n\r\n",
        b"GET /livez HTTP/1.0\r\n\r\n",
        b"\r\n\r\n" + GET + b"Connection: close\r\n\r\n",
        GET
        + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        + b"1\r\nx\r\n" * 20_000
        + b"0\r\nt: u\r\n\r\n",
    ],
    ids=["long line", "many fields", "HTTP/1.0", "newlines in front", "many small chunks"],
)
def test_what_is_unusual_is_answered(server: ApiProcess, request_: bytes) -> None:
    (answer,) = exchange(server.port, request_)
    assert answer.status == 200


def test_pipelined_requests_are_answered_in_order_and_without_end_refused(server: ApiProcess) -> None:
    paths = [b"/livez", b"/nothing"] * 8
    requests = b"".join(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path for path in paths)
    pipelined = exchange(server.port, requests + GET + b"Connection: close\r\n\r\n")
    assert [answer.status for answer in pipelined] == [200, 404] * 8 + [200]
    with connected(server.port) as connection:
        connection.sendall((GET + b"\r\n") * 100)
        *answered, last = answers(connection)
    assert {answer.status for answer in answered} == {200}
    refusal(last, 429, "rate_limited")
    assert last.headers["retry-after"] == "1"
    with connected(server.port) as connection:
        assert flood(connection, (GET + b"\r\n") * 100) < ENOUGH
    assert server.alive()


def test_nothing_is_read_behind_an_upgrade_that_is_not_made(server: ApiProcess) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
    (answer,) = exchange(server.port, GET + upgrade + b"\r\n" + GET + b"\r\n")
    assert (answer.status, answer.headers["connection"]) == (200, "close")


def test_the_internal_listener_is_guarded_too(server: ApiProcess) -> None:
    with connected(server.internal_port) as connection:
        connection.sendall(GET)
        assert flood(connection, b"a: " + b"b" * 1000 + b"\r\n") < ENOUGH
        refusal(answers(connection)[0], 431, "header_too_large")
    assert server.refused("header_bytes", "internal") == 1
    assert "server" not in server.inside.get("/livez").headers


def test_refusals_are_logged_in_few_lines_that_are_json(server: ApiProcess) -> None:
    before = server.refused("host")
    for _ in range(50):
        exchange(server.port, b"GET /livez HTTP/1.1\r\n\r\n")
    eventually(lambda: counted(server, "host") == before + 50, "every refusal is counted")
    lines = [line for line in server.lines() if line["event"] == "clients_refused" and line["reason"] == "host"]
    assert all(
        (line["level"], line["listener"], line["address"]) == ("warning", "public", "127.0.0.1") for line in lines
    )
    assert all(line["event"] != "http_server" for line in server.lines())


def counted(server: ApiProcess, reason: str) -> int:
    return sum(
        line["count"] for line in server.lines() if line["event"] == "clients_refused" and line["reason"] == reason
    )
