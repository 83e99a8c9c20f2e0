"""The egress proxy connects to its endpoint's public addresses, which it has resolved itself, and nowhere else."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest

from ipucloud.egress.guard import Address, Guard, is_public
from ipucloud.egress.proxy import EgressProxy
from tests.support.waiting import PATIENCE


class Listener:
    """Says one line to whoever connects, and counts them."""

    def __init__(self, address: str, port: int = 0) -> None:
        self._socket = socket.create_server((address, port))
        self.port: int = self._socket.getsockname()[1]
        self.met = 0
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            met, _ = self._socket.accept()
            with met:
                if met.recv(5) == b"close":
                    return
                self.met += 1
                met.sendall(b"hello")

    def close(self) -> None:
        with socket.create_connection(self._socket.getsockname()) as last:
            last.sendall(b"close")
        self._thread.join()
        self._socket.close()


@contextmanager
def leading(addresses: Sequence[Sequence[str]], port: int, permitted: Sequence[str] = ()) -> Iterator[EgressProxy]:
    """A proxy for `s3.test`, whose name leads to each of `addresses` in turn, the last ones for ever."""
    remaining = list(addresses)

    async def resolve(host: str, port: int) -> Sequence[str]:
        assert host == "s3.test"
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    def permits(address: Address) -> bool:
        return str(address) in permitted

    with EgressProxy("s3.test", port, Guard(permits if permitted else is_public, resolve)) as proxy:
        yield proxy


def answer(proxy: EgressProxy, authority: str, method: str = "CONNECT") -> tuple[int, bytes]:
    """The status of the proxy, and what comes through it."""
    host, port = proxy.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(f"{method} {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
        with closing(http.client.HTTPResponse(connection, method=method)) as response:
            response.begin()
            if response.status != 200:
                return response.status, b""
        connection.sendall(b"hello")
        return 200, connection.recv(5)


def test_a_connection_goes_to_the_address_that_was_permitted() -> None:
    with closing(Listener("127.0.0.1")) as first, closing(Listener("127.0.0.2", first.port)) as second:
        with leading([["127.0.0.1"], ["127.0.0.2"]], first.port, permitted=["127.0.0.1"]) as proxy:
            assert answer(proxy, f"s3.test:{first.port}") == (200, b"hello")
            assert proxy.refusal is None
            assert answer(proxy, f"s3.test:{first.port}") == (403, b"")
            assert proxy.refusal == "The endpoint's address is not public."
        assert (first.met, second.met) == (1, 0)


def test_an_address_that_does_not_answer_gives_way_to_the_next() -> None:
    with closing(Listener("127.0.0.1")) as listener:
        both = ["127.0.0.2", "127.0.0.1"]
        with leading([both], listener.port, permitted=both) as proxy:
            assert answer(proxy, f"s3.test:{listener.port}") == (200, b"hello")


@pytest.mark.parametrize(
    "addresses",
    [
        *([each] for each in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "fe80::1%lo", "::ffff:127.0.0.1")),
        *(["8.8.8.8", "127.0.0.1"], ["nonsense"], []),
    ],
)
def test_no_address_of_a_name_is_private(addresses: list[str]) -> None:
    with closing(Listener("127.0.0.1")) as listener:
        with leading([addresses], listener.port) as proxy:
            assert answer(proxy, f"s3.test:{listener.port}") == (403, b"")
        assert listener.met == 0


def test_it_leads_to_one_endpoint() -> None:
    with closing(Listener("127.0.0.1")) as listener:
        with leading([["127.0.0.1"]], listener.port, permitted=["127.0.0.1"]) as proxy:
            port = listener.port
            for authority in (f"127.0.0.1:{port}", f"s3.test:{port + 1}", f"s3.test.:{port}"):
                assert answer(proxy, authority) == (403, b"")
                assert proxy.refusal == "The bucket's service redirects to another host."
            assert answer(proxy, f"http://s3.test:{port}/", "GET") == (403, b"")
        assert listener.met == 0


def test_a_target_that_does_not_answer_is_reported() -> None:
    with closing(Listener("127.0.0.1")) as listener:
        free = listener.port
    with leading([["127.0.0.1"]], free, permitted=["127.0.0.1"]) as proxy:
        assert answer(proxy, f"s3.test:{free}") == (502, b"")
        assert proxy.refusal is None
