"""uvicorn's protocol over httptools, within limits.

The parser has no limits, and joins the pieces of a header field again for each piece: so it is fed in pieces, and
stopped as soon as there are too many. What a connection waits for is updated once per read and per answer, not in every
callback of the parser.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ipucloud.http.gate import Gate
from ipucloud.http.limits import PROGRESS_BYTES, Limits
from ipucloud.http.refusals import Reason, lines
from ipucloud.http.sockets import PATH_END, websocket
from ipucloud.http.unread import DROP
from ipucloud.http.waits import Peer, Wait

PIECE = 16_384
CHUNK_LINE = 16
"""Bytes apart from the body that every piece of a body may have: its chunk's size and line ends."""
LINGER_BYTES = 1_048_576
"""Discarded after a refusal, so that the connection is not reset before its client has read the reason."""


class Refused(Exception):
    """Raised in a callback of the parser to stop it."""


class LimitedProtocol(HttpToolsProtocol):
    """One connection. `gate` is what it shares with the others of its listener."""

    gate: ClassVar[Gate]
    _limits: ClassVar[Limits]
    address = ""
    waiting: Wait | None = None
    peer: Peer | None = None
    _next = Wait.HEADER
    """What the client has to send before there is more to do."""
    _beside_body = 0
    """Bytes of the request so far that are not its body."""
    _unanswered = 0
    """Requests whose header is complete and whose answer is not."""
    _refused: Reason | None = None
    _closing = False
    """The refusal was sent; the client may read it."""
    _upgraded = False
    """What follows is a WebSocket's."""
    _remaining = 0
    """Bytes that the client had not read of its answers, or thrown-away bytes while closing."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        refused = self.gate.admit(self)
        if refused is not None:
            self._refuse(refused)
        self._report_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self.gate.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused is not None:
            self._discard(len(data))
            return
        if len(data) <= PIECE:
            self._feed(data)
        else:
            for start in range(0, len(data), PIECE):
                self._feed(data[start : start + PIECE])
        self._report_wait()

    def _feed(self, piece: bytes) -> None:
        if self._refused is not None or self._upgraded:
            return
        self._beside_body += len(piece)
        super().data_received(piece)
        if self._beside_body > self._limits.header_bytes and not self._upgraded:
            self._refuse(Reason.HEADER_BYTES)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._report_wait()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._report_wait()

    def send_400_response(self, msg: str) -> None:
        self._refuse(Reason.MALFORMED)

    # Callbacks of the parser

    def on_message_begin(self) -> None:
        self._next = Wait.HEADER
        if self._unanswered > self._limits.pipelined:
            self._stop(Reason.PIPELINE)
        super().on_message_begin()
        self.scope[DROP] = self._drop_unread  # type: ignore[literal-required]  # as extensions of servers are

    def on_headers_complete(self) -> None:
        reason = self._fault_in_header()
        if reason is not None:
            self._stop(reason)
        self._upgraded = self._is_for_socket()
        super().on_headers_complete()
        self._next = Wait.BODY
        self._unanswered += 1
        self.headers = []  # the request has the others; trailers are discarded
        if self.parser.should_upgrade() and not self._upgraded:
            self.cycle.keep_alive = False  # this upgrade is not supported, and what follows is not HTTP

    def on_body(self, body: bytes) -> None:
        self._beside_body = max(0, self._beside_body - len(body) - CHUNK_LINE)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._next = Wait.IDLE
        self._beside_body = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._unanswered -= 1
        super().on_response_complete()
        if self._refused is not None and not self._unanswered:
            self._send_refusal(self._refused)
        self._report_wait()

    # Upgrades to WebSockets

    def _is_for_socket(self) -> bool:
        """Whether the request, whose header is complete, is upgraded: nothing before it waits for an answer."""
        asks = self.parser.should_upgrade() and self._get_upgrade() == b"websocket"
        return asks and self.ws_protocol_class is not None and not self._unanswered and self._ends_right()

    def _ends_right(self) -> bool:
        return self.url.partition(b"?")[0].endswith(PATH_END)

    def _should_upgrade(self) -> bool:
        return self._upgraded

    def handle_websocket_upgrade(self) -> None:
        # It counts as a connection of its listener and address until it is closed, and waits for nothing.
        self.ws_protocol_class = partial(websocket, over=partial(self.gate.forget, self))  # type: ignore[assignment]
        super().handle_websocket_upgrade()

    # What the gate asks for

    def shed(self) -> None:
        if self._closing:
            self._abort()
        else:
            self.drop(Reason.SHED)

    def drop(self, reason: Reason) -> None:
        self.gate.count(reason, self.address)
        self._abort()

    def _drop_unread(self) -> None:
        self.drop(Reason.UNREAD)

    def overdue(self, now: float) -> None:
        match self.waiting:
            case Wait.READ:
                self._judge_reader(now)
            case _ if self.transport.is_closing():
                self._abort()
            case Wait.HEADER:
                self._refuse(Reason.HEADER_TIMEOUT)
            case Wait.BODY if self.flow.read_paused:  # it is the application that does not read
                self.gate.wait(self, Wait.BODY, now)
            case Wait.BODY:
                self._refuse(Reason.BODY_TIMEOUT)
            case Wait.IDLE:
                self.drop(Reason.IDLE)
            case _:
                self._abort()

    def _judge_reader(self, now: float) -> None:
        unsent = self.transport.get_write_buffer_size()
        if self._remaining - unsent < PROGRESS_BYTES:
            self.drop(Reason.WRITE_TIMEOUT)
        else:
            self._remaining = unsent
            self.gate.wait(self, Wait.READ, now)

    def _report_wait(self) -> None:
        """Report to the gate what the connection waits for, if that has changed."""
        kind: Wait | None
        if self._closing:
            kind = Wait.CLOSE
        elif self.flow.write_paused or self.transport.is_closing():
            kind = Wait.READ
        elif self._unanswered > (self._next is Wait.BODY):  # the request whose body is to come is counted already
            kind = None
        else:
            kind = self._next
        if kind is self.waiting:
            return
        if kind is Wait.READ:
            self._remaining = self.transport.get_write_buffer_size()
        self.gate.wait(self, kind, self.loop.time())

    # Refusing

    def _fault_in_header(self) -> Reason | None:
        limits = self._limits
        if len(self.headers) > limits.header_count:
            return Reason.HEADER_COUNT
        if self._beside_body > limits.line_bytes:
            # Only now is each field checked: the piece that ends the header is not refused as a whole.
            sizes = [len(self.url), *(len(name) + len(value) for name, value in self.headers)]
            if max(sizes) > limits.line_bytes:
                return Reason.HEADER_LINE
            if sum(sizes) > limits.header_bytes:
                return Reason.HEADER_BYTES
        hosts = 0
        for name, _ in self.headers:
            if name == b"host":
                hosts += 1
        if hosts == 1 or (not hosts and self.parser.get_http_version() != "1.1"):
            return None
        return Reason.HOST

    def _stop(self, reason: Reason) -> None:
        self._refuse(reason)
        raise Refused

    def _refuse(self, reason: Reason) -> None:
        """Send the reason and close, after the answers in progress."""
        if self._refused is not None:
            return
        self._refused = reason
        self.gate.count(reason, self.address)
        if self._next is not Wait.BODY:
            if not self._unanswered:
                self._send_refusal(reason)
        elif not self._unanswered:
            self._close()  # the request was answered before its body came
        elif self._unanswered == 1 and not self.cycle.response_started:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._send_refusal(reason)
        else:
            self._abort()

    def _send_refusal(self, reason: Reason) -> None:
        if not self.transport.is_closing():
            status_line, rest = self.gate.refusals[reason]
            self.transport.write(status_line + lines(self.server_state.default_headers) + rest)
            self._close()

    def _close(self) -> None:
        """Close our side, and give the client time to read and to close its own."""
        self._closing = True
        self._remaining = LINGER_BYTES
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:
            self.transport.close()  # TLS ends in both directions at once
        self.flow.resume_reading()
        self._report_wait()

    def _discard(self, size: int) -> None:
        self._remaining -= size
        if self._closing and self._remaining < 0:
            self._abort()

    def _abort(self) -> None:
        self.gate.forget(self)
        self.transport.abort()


def limited(gate: Gate) -> type[LimitedProtocol]:
    """The protocol for the connections of one listener."""

    class Limited(LimitedProtocol):
        pass

    Limited.gate = gate
    Limited._limits = gate.limits
    return Limited
