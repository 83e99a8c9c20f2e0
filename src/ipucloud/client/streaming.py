"""Server-sent events without I/O: what a stream of bytes says, and from where it is opened again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pydantic import ValidationError

from ipucloud.client.call import Call
from ipucloud.client.errors import EventGapError, UnexpectedAnswerError
from ipucloud.client.exchange import Exchange, Lost, Received, Request
from ipucloud.client.retry import Retry
from ipucloud.client.transport import EVENT_STREAM

Result = TypeVar("Result")

SILENCE_SECONDS = 45.0
"""A stream that says nothing for so long is dead: the service sends a comment every 15 seconds."""
REOPEN_SECONDS = 1.0
"""Pause before a stream is opened again that the service has ended."""
PATIENT = Retry(attempts=100, longest=300.0)
"""Attempts to open a stream again, which has to survive a restart of the service."""


@dataclass
class Message:
    """A message of a stream; the members of its last lines, until an empty line ends it."""

    event: str = "message"
    data: bytes = b""
    id: str | None = None


class Messages:
    """The parser of a stream (WHATWG HTML, 9.2.6)."""

    def __init__(self) -> None:
        self._rest = b""
        self._message = Message()

    def of(self, piece: bytes) -> Iterator[Message]:
        """The messages that this piece completes. One without data only sets an id."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if line in {b"", b"\r"}:
                yield self._message
                self._message = Message()
            else:
                self._field(line.removesuffix(b"\r"))

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"event":
                self._message.event = value.decode()
            case b"id":
                self._message.id = value.decode()
            case b"data":
                self._message.data += (b"\n" if self._message.data else b"") + value
            case _:
                pass  # a comment, or a field that is not needed


class Resumed(Generic[Result]):
    """A stream of items that is opened again after the last one whenever it ends."""

    def __init__(
        self, exchange: Exchange, request: Request, call: Call[Result], on_gap: Callable[[], None] | None
    ) -> None:
        self._exchange = exchange
        self._request = request
        self._call = call
        self._on_gap = on_gap
        self._messages = Messages()
        self._last: str | None = None
        self._failures = 0
        self._heard = exchange.clock()

    def request(self) -> Request:
        """The next request to send."""
        self._messages = Messages()
        headers = {**self._request.headers, "accept": f"{EVENT_STREAM}, application/problem+json"}
        if self._last is not None:
            headers["Last-Event-ID"] = self._last
        return replace(self._request, headers=headers, timeout=SILENCE_SECONDS)

    def items(self, piece: bytes) -> Iterator[Result]:
        """The items of a piece of the answer. Raises EventGapError, UnexpectedAnswerError."""
        self._failures, self._heard = 0, self._exchange.clock()
        for message in self._messages.of(piece):
            self._last = message.id or self._last
            if message.event == "gap":
                if self._on_gap is None:
                    raise EventGapError
                self._on_gap()
            elif message.data and message.id is not None:
                yield self._decoded(message)

    def pause(self, outcome: Received | Lost | None) -> float:
        """Seconds until the next attempt; None: the service ended the stream. Raises what `Client.run` raises."""
        if outcome is None:
            return REOPEN_SECONDS
        self._failures += 1
        retry = self._exchange.retry if self._last is None else PATIENT
        return self._exchange.pause(self._request, outcome, self._failures, self._heard, retry)

    def _decoded(self, message: Message) -> Result:
        try:
            return self._call.decode(message.data)
        except ValidationError as error:
            detail = f"This version of the client does not understand an event of {self._exchange.url}."
            raise UnexpectedAnswerError(200, detail) from error
