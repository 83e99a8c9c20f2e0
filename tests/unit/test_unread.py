"""Long answers go out in pieces, and what their clients do not read is bounded: the slowest are broken off."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message

from ipucloud.http.unread import DROP, PIECE, Unread

pytestmark = pytest.mark.anyio

LONG = bytes(range(256)) * (PIECE // 64)
"""Four pieces."""


class Client:
    """Reads so many pieces, and then no more until it is told to."""

    def __init__(self, reads: int) -> None:
        self._reads = reads
        self.received: list[Message] = []
        self.goes_on = asyncio.Event()
        self.dropped = 0

    def is_dropped(self) -> None:
        """What is sent from now on is lost, and does not wait."""
        self.dropped += 1
        self._reads = 0
        self.goes_on.set()

    @property
    def body(self) -> bytes:
        return b"".join(each["body"] for each in self.received)

    async def send(self, message: Message) -> None:
        if len(self.received) >= self._reads:
            await self.goes_on.wait()
        if not self.dropped:
            self.received.append(message)


def asks(unread: Unread, client: Client, body: bytes = LONG) -> asyncio.Task[None]:
    scope = {DROP: client.is_dropped}
    return asyncio.create_task(unread.send(scope, client.send, {"type": "http.response.body", "body": body}))


async def begun() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_a_long_answer_arrives_whole_and_in_order() -> None:
    client = Client(reads=100)
    await asks(Unread(PIECE), client, LONG + b"the end")
    assert client.body == LONG + b"the end"
    assert [each["more_body"] for each in client.received] == [True] * 4 + [False]
    assert max(len(each["body"]) for each in client.received) == PIECE


async def test_a_part_of_a_stream_is_not_its_end() -> None:
    client = Client(reads=100)
    message = {"type": "http.response.body", "body": LONG, "more_body": True}
    await Unread(PIECE).send({}, client.send, message)
    assert {each["more_body"] for each in client.received} == {True}


async def test_the_answer_without_progress_for_longest_is_broken_off() -> None:
    """Room for two: the first has read most, and last."""
    unread, clients = Unread(2 * len(LONG)), [Client(0), Client(0), Client(0)]
    first, second = [asks(unread, client) for client in clients[:2]]
    await begun()
    clients[0].goes_on.set()
    clients[0].goes_on.clear()
    clients[0]._reads = 2
    await begun()
    third = asks(unread, clients[2])
    await begun()
    await second
    for client in clients:
        client.goes_on.set()
    await asyncio.gather(first, third)
    assert (clients[0].body, clients[1].body, clients[2].body) == (LONG, b"", LONG)
    assert [client.dropped for client in clients] == [0, 1, 0]


async def test_an_answer_counts_as_a_whole_until_its_end() -> None:
    """All of it is kept until then: whoever leaves only the last piece unread costs no less than who reads nothing."""
    unread, clients = Unread(2 * len(LONG)), [Client(3), Client(3), Client(3)]
    tasks = [asks(unread, client) for client in clients]
    await begun()
    for client in clients:
        client.goes_on.set()
    await asyncio.gather(*tasks)
    assert [client.dropped for client in clients] == [1, 0, 0]


async def test_no_more_are_broken_off_than_need_be() -> None:
    """Two begin before the first, which was broken off, has come to its end."""
    unread, clients = Unread(2 * len(LONG)), [Client(0) for _ in range(4)]
    tasks = [asks(unread, client) for client in clients]
    await asyncio.sleep(0)
    assert [client.dropped for client in clients] == [1, 1, 0, 0]
    await begun()
    for client in clients:
        client.goes_on.set()
    await asyncio.gather(*tasks)


async def test_one_answer_is_never_broken_off_for_itself() -> None:
    client = Client(reads=100)
    await asks(Unread(1), client)
    assert client.body == LONG


async def test_what_was_read_or_left_counts_no_more() -> None:
    unread, leaves = Unread(len(LONG)), Client(0)
    gone = asks(unread, leaves)
    await begun()
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    for _ in range(3):
        await asks(unread, Client(reads=100))
    assert unread._size == 0
