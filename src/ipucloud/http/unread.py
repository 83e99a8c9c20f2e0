"""Answers that their clients have not read: sent in pieces, and bounded for the whole process.

A server that hands a whole answer to its connection keeps all of it until the client has read the last byte. So an
answer goes out piece by piece, each once there is room for it. What still waits in the process, of all clients
together, has a limit as well: beyond it the answers that have made no progress for longest are broken off.
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
    """`left`: bytes that still wait. `drop` None: it cannot be broken off."""

    left: int
    drop: Callable[[], None] | None


class Unread:
    """The long answers of one process that their clients have yet to read, `limit` bytes of them together."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = 0
        self._answers: OrderedDict[_Answer, None] = OrderedDict()
        """Those that made no progress for longest come first."""

    async def send(self, scope: Scope, send: Send, message: Message) -> None:
        """Send a message whose body is longer than a piece."""
        body, more = memoryview(message["body"]), message.get("more_body", False)
        answer = _Answer(0, scope.get(DROP))
        self._answers[answer] = None
        try:
            self._wait_for(answer, len(body))
            self._make_room()
            for start in range(0, len(body), PIECE):
                piece = bytes(body[start : start + PIECE])
                last = start + PIECE >= len(body)
                await send({**message, "body": piece, "more_body": more or not last})
                self._wait_for(answer, -len(piece))
                self._answers.move_to_end(answer)
        finally:
            self._wait_for(answer, -answer.left)
            del self._answers[answer]

    def _wait_for(self, answer: _Answer, size: int) -> None:
        answer.left += size
        self._left += size
        UNREAD.inc(size)

    def _make_room(self) -> None:
        """Break off the slowest until the rest is within the limit; the newest stays."""
        excess = self._left - self._limit
        for answer in [*self._answers][:-1]:
            if excess <= 0:
                return
            if answer.drop is not None:
                answer.drop()
                answer.drop = None
                excess -= answer.left
