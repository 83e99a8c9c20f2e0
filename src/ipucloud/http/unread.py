"""Answers that their clients have not read: sent in pieces, and bounded for the whole process.

A server that hands a whole answer to its connection keeps all of it until the client has read the last byte. So an
answer goes out piece by piece, each once there is room for it. The answers that have not gone out whole, of all clients
together, have a limit as well: beyond it those that have made no progress for longest are broken off.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Message, Scope, Send

from ipucloud.http.metrics import UNREAD

PIECE = 65_536
"""As much as a connection buffers; an answer that is not longer goes out at once."""
DROP = "ipucloud.drop"
"""Member of a request's scope: closes its connection, because its client does not read. What is sent then is lost."""


@dataclass(eq=False, slots=True)
class _Answer:
    """`drop` None: it cannot be broken off, or was."""

    size: int
    drop: Callable[[], None] | None


class Unread:
    """The long answers of one process that their clients have yet to read, `limit` bytes of them together.

    One counts as a whole until its last piece is out: whoever made it keeps all of it until then.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._answers: OrderedDict[_Answer, None] = OrderedDict()
        """Those that made no progress for longest come first."""

    async def send(self, scope: Scope, send: Send, message: Message) -> None:
        """Send a message whose body is longer than a piece."""
        body, more = memoryview(message["body"]), message.get("more_body", False)
        answer = _Answer(len(body), scope.get(DROP))
        self._answers[answer] = None
        self._count(answer.size)
        try:
            self._make_room()
            for start in range(0, len(body), PIECE):
                last = start + PIECE >= len(body)
                await send({**message, "body": bytes(body[start : start + PIECE]), "more_body": more or not last})
                self._answers.move_to_end(answer)
        finally:
            del self._answers[answer]
            self._count(-answer.size)

    def _count(self, size: int) -> None:
        self._size += size
        UNREAD.inc(size)

    def _make_room(self) -> None:
        """Break off the slowest until the rest is within the limit; the newest stays."""
        for answer in [*self._answers][:-1]:
            if self._size <= self._limit:
                return
            if answer.drop is not None:
                answer.drop()
                self._count(-answer.size)
                answer.size, answer.drop = 0, None
