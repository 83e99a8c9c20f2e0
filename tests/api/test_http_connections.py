"""Many connections: the silent ones make room for others, and nobody takes all the room."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.api.support import Api
from tests.support.api_process import ApiProcess, api_process
from tests.support.postgres import Database as Scratch
from tests.support.waiting import eventually
from tests.support.wire import GET, POST, Answer, answers, connected, ended, exchange, next_answer

pytestmark = pytest.mark.anyio

PATIENT: dict[str, object] = {"header_timeout": 300, "body_timeout": 300, "idle_timeout": 300}
"""Deadlines that play no part."""
CROWD = 2_000


@pytest.fixture(autouse=True)
def _descriptors() -> Iterator[None]:
    """This process holds as many connections as it attaches."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


@contextmanager
def crowd(port: int, number: int, *beginnings: bytes) -> Iterator[list[socket.socket]]:
    """Connections from ten addresses of this machine, that have sent one of these each and then nothing."""
    with ExitStack() as stack:
        connections = []
        for index in range(number):
            connection = stack.enter_context(connected(port, f"127.0.1.{index % 10}"))
            connection.sendall(beginnings[index % len(beginnings)])
            connections.append(connection)
        yield connections


def fast(port: int, number: int = 200) -> set[int]:
    """Ask so many times, every time on a new connection and once more on it: the statuses."""
    statuses = set()
    for _ in range(number):
        statuses |= {answer.status for answer in exchange(port, GET + b"\r\n" + GET + b"Connection: close\r\n\r\n")}
    return statuses


def test_everybody_is_answered_while_thousands_are_slow() -> None:
    kinds = (b"", GET, GET + b"a: b", POST + b"Content-Length: 1000\r\n\r\nab", GET + b"\r\n")
    with api_process(PATIENT) as server, crowd(server.port, CROWD, *kinds) as slow:
        eventually(lambda: server.connections() >= CROWD, "all are attached")
        assert fast(server.port) == {200}
        assert server.refused("shed") == 0
        assert server.connections() >= CROWD
        for connection in slow:
            connection.close()
        eventually(lambda: server.connections() < 10, "all have left")


def test_thousands_of_slow_clients_are_told_so_and_closed() -> None:
    with api_process({"header_timeout": 5}) as server, crowd(server.port, CROWD, b"", GET) as slow:
        assert {status(connection) for connection in slow} == {408}
        assert server.refused("header_timeout") == CROWD


def status(connection: socket.socket) -> int:
    (answer,) = answers(connection)
    return answer.status


def test_more_silent_clients_than_descriptors_lock_nobody_out() -> None:
    with api_process(PATIENT, descriptors=1024) as server, crowd(server.port, CROWD, b"") as silent:
        assert fast(server.port) == {200}
        room = server.connections()
        assert 512 <= room < 1024
        assert len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) < 1024
        for connection in silent[: CROWD - 1024]:  # the oldest ones went first
            assert ended(connection)
        assert server.refused("shed") >= CROWD - 1024
        eventually(lambda: any(line.get("reason") == "shed" for line in server.lines()), "it is logged")
        assert len(server.lines()) < CROWD


def test_a_connection_that_is_used_is_never_shed_before_one_that_is_not() -> None:
    with api_process({"connection_limit": 10, **PATIENT}) as server, connected(server.port) as idle:
        idle.sendall(GET + b"\r\n")
        assert next_answer(idle).status == 200
        with crowd(server.port, 100, b"", GET):
            eventually(lambda: server.refused("shed") > 90, "the others make room")
            idle.sendall(GET + b"Connection: close\r\n\r\n")
            assert status(idle) == 200


@contextmanager
def long_polls(
    api: Api, operation: str, server: ApiProcess, *addresses: str, before: int = 0
) -> Iterator[list[socket.socket]]:
    """Requests from these addresses that are being answered for a minute, or until the process drains.

    `before`: how many requests are being answered already.
    """
    head = (
        f"GET {api.base}/operations/{operation}?wait=60 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        f"Authorization: Bearer {api.world.project.token.secret}\r\n\r\n"
    ).encode()
    with ExitStack() as stack:
        connections: list[socket.socket] = []
        for address in addresses:
            # One after the other: a connection that has said nothing yet makes room for the next.
            connections.append(stack.enter_context(connected(server.port, address)))
            connections[-1].sendall(head)
            eventually(lambda: server.active() == before + len(connections), "each is under way")
        yield connections


async def test_one_address_takes_its_share_and_the_process_what_it_can_hold(api: Api, database: Scratch) -> None:
    operation = (await api.make_cluster())["id"]
    limits = {"connections_per_address": 3, "connection_limit": 5, "trusted_proxies": "127.0.2.9", "drain_seconds": 40}
    client, other, proxy = "127.0.2.1", "127.0.2.2", "127.0.2.9"
    with (
        api_process(PATIENT | limits, url=database.app_url) as server,
        long_polls(api, operation, server, client, client, client) as polls,
    ):
        refused(get_from(server, client), 429, "too_many_connections", limit=3)
        assert get_from(server, other).status == get_from(server, proxy).status == 200
        with crowd(server.port, 20, b""):
            refused(get_from(server, client), 429, "too_many_connections", limit=3)
            assert get_from(server, other).status == 200
        with long_polls(api, operation, server, proxy, proxy, before=3) as more:
            refused(get_from(server, other), 503, "unavailable")
            refused(get_from(server, proxy), 503, "unavailable")
            assert {server.refused(reason) for reason in ("address_full", "full")} == {2}
            assert server.inside.get("/readyz").status_code == 200
            server.process.terminate()
            assert [status(connection) for connection in (*polls, *more)] == [200] * 5


def get_from(server: ApiProcess, address: str) -> Answer:
    with connected(server.port, address) as connection:
        connection.sendall(GET + b"Connection: close\r\n\r\n")
        (answer,) = answers(connection)
    return answer


def refused(answer: Answer, status: int, code: str, **extra: object) -> None:
    document = answer.json()
    assert (answer.status, document["code"], document["retryable"]) == (status, code, True)
    assert extra.items() <= document.items()
    assert (answer.headers["retry-after"], answer.headers["connection"]) == ("1", "close")


def test_a_proxy_that_is_trusted_may_hold_more_than_one_address() -> None:
    with api_process({"connections_per_address": 3, "trusted_proxies": "127.0.1.0/24", **PATIENT}) as server:
        with crowd(server.port, 100, b""):
            eventually(lambda: server.connections() >= 100, "all are attached")
            assert server.refused("shed") == 0
        with ExitStack() as stack:
            for _ in range(10):
                stack.enter_context(connected(server.port, "127.0.2.1"))
            eventually(lambda: server.refused("shed") == 7, "a client has its limit")


def test_the_internal_listener_answers_whatever_else_is_attached() -> None:
    with api_process(PATIENT, descriptors=1024) as server, crowd(server.port, 1_100, b""), ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(connected(server.internal_port))
        eventually(lambda: server.refused("shed", "internal") > 100, "they make room")
        assert server.inside.get("/livez").status_code == 200
        assert server.alive()
