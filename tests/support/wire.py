"""HTTP clients that do what no well-behaved one does."""

from __future__ import annotations

import json
import re
import select
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from typing import Any

SECONDS = 60.0
"""Longer than anything takes here, on the busiest machine."""
GET = b"GET /livez HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /v1/nothing HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
ENOUGH = 64_000_000
"""Bytes after which a client that nobody stops has shown that nobody does."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@contextmanager
def connected(port: int, address: str = "127.0.0.1", *, window: int | None = None) -> Iterator[socket.socket]:
    """A connection from that address of this machine; `window`: bytes it takes before they are read."""
    with socket.socket() as connection:
        connection.settimeout(SECONDS)
        if window is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        connection.bind((address, 0))
        connection.connect(("127.0.0.1", port))
        yield connection


def exchange(port: int, *pieces: bytes) -> list[Answer]:
    """Send the pieces and read until the server ends the connection: its answers."""
    with connected(port) as connection:
        for piece in pieces:
            connection.sendall(piece)
        return answers(connection)


def next_answer(connection: socket.socket) -> Answer:
    """The one answer that comes now, to its end; nothing may follow it."""
    received = bytearray()
    while True:
        data = connection.recv(65_536)
        assert data, "the server ended the connection"
        received += data
        head, end, body = bytes(received).partition(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length: (\d+)", head)
        if end and length is not None and len(body) >= int(length[1]):
            (answer,) = parsed(bytes(received))
            return answer


def answers(connection: socket.socket) -> list[Answer]:
    """All answers until the server ends the connection."""
    return list(parsed(rest(connection)))


def rest(connection: socket.socket) -> bytes:
    """Everything until the server ends the connection."""
    received = bytearray()
    while data := connection.recv(65_536):
        received += data
    return bytes(received)


def ended(connection: socket.socket) -> bool:
    """Read on until the server ends the connection, be it with a reset."""
    try:
        rest(connection)
    except ConnectionError:
        return True
    return True


def parsed(received: bytes) -> Iterator[Answer]:
    """Answers with a Content-Length, one after the other."""
    while received:
        head, _, received = received.partition(b"\r\n\r\n")
        first, *fields = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}
        length = int(headers["content-length"])
        yield Answer(int(first.split()[1]), headers, received[:length])
        received = received[length:]


def flood(connection: socket.socket, piece: bytes) -> int:
    """Send the piece over and over until the server answers or ends the connection: the bytes it took until then."""
    return trickle(connection, repeat(piece), pause=0.0)


def trickle(connection: socket.socket, pieces: Iterable[bytes], pause: float) -> int:
    """Send a piece, and the next one after a pause, until the server answers or ends the connection: the bytes sent."""
    sent = 0
    connection.setblocking(False)
    for piece in pieces:
        readable, _, _ = select.select([connection], [], [], pause)
        if readable or sent > ENOUGH:
            break
        select.select([connection], [connection], [], SECONDS)
        try:
            sent += connection.send(piece)
        except BlockingIOError:
            continue
        except ConnectionError:
            break
    connection.settimeout(SECONDS)
    return sent
