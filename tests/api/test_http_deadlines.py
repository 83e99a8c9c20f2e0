"""Clients that keep the HTTP server waiting: for a header, a body, the next request, or for its answer to be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import repeat

import pytest

from tests.api.support import Api
from tests.support.api_process import ApiProcess, api_process
from tests.support.postgres import Database as Scratch
from tests.support.waiting import eventually
from tests.support.wire import ENOUGH, GET, POST, answers, connected, ended, next_answer, parsed, trickle

pytestmark = pytest.mark.anyio

SOON = 0.5
"""Seconds. Each server here has a short deadline for what its tests wait for, and the usual ones for all else."""
PAUSE = 0.05
"""Seconds between two pieces of a slow client; shorter than any deadline."""
AFTER_THE_HEADER: dict[str, object] = {"body_timeout": SOON, "idle_timeout": SOON}


@pytest.fixture(scope="module")
def impatient() -> Iterator[ApiProcess]:
    """Does not wait long for a header."""
    with api_process({"header_timeout": SOON}) as started:
        yield started


@pytest.fixture(scope="module")
def server() -> Iterator[ApiProcess]:
    """Does not wait long for anything but a header."""
    with api_process(AFTER_THE_HEADER) as started:
        yield started


@pytest.mark.parametrize(
    ("begin", "slowly"),
    [(b"", b""), (GET, b""), (GET + b"a: ", b"b"), (b"\r\n", b"\r\n"), (b"G", b"")],
    ids=["silent", "half", "slow", "newlines", "one byte"],
)
def test_a_header_has_a_deadline(impatient: ApiProcess, begin: bytes, slowly: bytes) -> None:
    before = impatient.refused("header_timeout")
    with connected(impatient.port) as connection:
        connection.sendall(begin)
        if slowly:
            assert trickle(connection, repeat(slowly), PAUSE) < ENOUGH
        (answer,) = answers(connection)
    assert (answer.status, answer.json()["code"]) == (408, "request_timeout")
    assert answer.headers["connection"] == "close"
    assert impatient.refused("header_timeout") == before + 1


def test_the_header_of_a_later_request_has_the_same(impatient: ApiProcess) -> None:
    with connected(impatient.port) as connection:
        connection.sendall(GET + b"\r\n" + GET)
        *_, last = answers(connection)
    assert (last.status, last.json()["code"]) == (408, "request_timeout")


async def test_a_body_has_a_deadline(api: Api, database: Scratch) -> None:
    before = await api.snapshot()
    token = api.world.project.token.secret
    head = (
        f"POST {api.base}/clusters HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    ).encode()
    with api_process(AFTER_THE_HEADER, url=database.app_url) as server:
        for slowly in (b"", b" "):
            with connected(server.port) as connection:
                connection.sendall(head)
                if slowly:
                    assert trickle(connection, repeat(slowly), PAUSE) < ENOUGH
                (answer,) = answers(connection)
            assert (answer.status, answer.json()["code"]) == (408, "request_timeout")
        assert server.refused("body_timeout") == 2
        assert [line["level"] for line in server.lines() if line["event"] in {"fault", "uncaught_exception"}] == []
    assert await api.snapshot() == before


def test_a_request_that_was_answered_before_its_body_came_gets_no_second_answer(server: ApiProcess) -> None:
    before = server.refused("body_timeout")
    with connected(server.port) as connection:
        connection.sendall(POST + b"Content-Length: 1000\r\n\r\nab")
        assert [answer.status for answer in answers(connection)] == [404]
    assert server.refused("body_timeout") == before + 1


def test_a_connection_without_requests_is_closed(server: ApiProcess) -> None:
    eventually(lambda: server.connections() == 0, "that of who waited for the server is closed")
    before = server.refused("idle")
    with connected(server.port) as quiet, connected(server.port) as newlines:
        for connection in (quiet, newlines):
            connection.sendall(GET + b"\r\n")
            assert next_answer(connection).status == 200
        assert trickle(newlines, repeat(b"\r\n"), PAUSE) < ENOUGH
        assert ended(newlines)
        assert ended(quiet)
    assert server.refused("idle") == before + 2
    eventually(lambda: any(line["event"] == "idle_connections_closed" for line in server.lines()), "it is logged")


def test_who_does_not_read_is_cut_off(server: ApiProcess) -> None:
    requests = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 16
    with api_process({"write_timeout": SOON}) as impatient, connected(impatient.port, window=4096) as connection:
        connection.sendall(requests)
        eventually(lambda: impatient.refused("write_timeout") == 1, "it is cut off")
        assert ended(connection)
    with connected(server.port, window=4096) as connection:
        connection.sendall(requests + GET + b"Connection: close\r\n\r\n")
        assert [answer.status for answer in answers(connection)] == [200] * 17


def test_clients_that_read_nothing_cost_no_more_than_the_process_allows() -> None:
    """The document of megabytes, asked for by eight who read nothing of it: one is left, and others are served."""
    request = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with api_process({"unread_limit": 2**20}) as server, ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(connected(server.port, window=4096)).sendall(request)
        eventually(lambda: server.refused("unread") == 7, "seven are broken off")
        with connected(server.port) as connection:
            connection.sendall(request)
            (answer,) = answers(connection)
        assert (answer.status, answer.json()["openapi"][:2]) == (200, "3.")
        assert server.refused("unread") == 8
        assert [line for line in server.lines() if line["event"] in {"fault", "uncaught_exception"}] == []


async def test_nobody_is_hurried_while_the_answer_is_being_made(api: Api, database: Scratch) -> None:
    operation = await api.make_cluster()
    head = (
        f"GET {api.base}/operations/{operation['id']}?wait=3 HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {api.world.project.token.secret}\r\nConnection: close\r\n\r\n"
    ).encode()
    with api_process(AFTER_THE_HEADER, url=database.app_url) as server, connected(server.port) as connection:
        connection.sendall(head)
        (answer,) = parsed(connection.makefile("rb").read())
    assert (answer.status, answer.json()["done"]) == (200, False)
