"""The outermost middleware: request id, common headers, unhandled exceptions, access log, metrics, HEAD."""

from __future__ import annotations

import os
import traceback

import structlog
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ipucloud.api.metrics import Metrics
from ipucloud.api.problems import internal_error, problem_response
from ipucloud.api.trace import Trace, start_trace
from ipucloud.http.headers import ALWAYS, UNLESS_SET
from ipucloud.http.unread import PIECE, Unread
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import Problem

log = structlog.get_logger(__name__)

_TELLING = (SQLAlchemyError, ValidationError)
"""Exceptions whose text may contain customer input: only their type is logged."""


class Edge:
    """ASGI middleware around everything else. Ensures one well-formed response."""

    def __init__(self, app: ASGIApp, *, clock: Clock, metrics: Metrics, unread: Unread) -> None:
        self._app = app
        self._unread = unread
        self._clock = clock
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = self._clock.monotonic()
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
        trace = start_trace(inner)
        trace.bodiless = inner is not scope
        structlog.contextvars.bind_contextvars(request_id=trace.request_id)
        answer = _Answer(scope, send, trace.request_id.encode("ascii"), self._unread, body_wanted=inner is scope)
        self._metrics.in_flight.inc()
        try:
            await self._app(inner, receive, answer)
        except Exception as error:  # noqa: BLE001  # last resort: every exception becomes a problem response
            await _recover(error, inner, receive, answer)
        finally:
            self._metrics.in_flight.dec()
            self._account(scope["method"], inner, trace, answer.status, self._clock.monotonic() - started)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As a request; it is logged when the WebSocket is closed, with its status 101 if it was open."""
        started = self._clock.monotonic()
        trace = start_trace(scope)
        structlog.contextvars.bind_contextvars(request_id=trace.request_id)
        answer = _Answer(scope, send, trace.request_id.encode("ascii"), self._unread, body_wanted=True)
        try:
            await self._app(scope, receive, answer)
        except Exception as error:  # noqa: BLE001  # last resort, as for requests
            await _recover(error, scope, receive, answer)
        route = getattr(scope.get("route"), "path_format", "")
        seconds = round(self._clock.monotonic() - started, 3)
        log.info("websocket", route=route, status=answer.status, duration_s=seconds, **trace.ids)

    def _account(self, method: str, scope: Scope, trace: Trace, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path_format", "")
        self._metrics.observe(method, route, status, seconds)
        log.info(
            "request", method=method, route=route, status=status, duration_ms=round(seconds * 1000, 2), **trace.ids
        )


class _Answer:
    """`send` that adds the common headers, records the status, and drops the body of a HEAD response."""

    __slots__ = ("_body_wanted", "_request_id", "_scope", "_send", "_unread", "status")

    def __init__(self, scope: Scope, send: Send, request_id: bytes, unread: Unread, *, body_wanted: bool) -> None:
        self._scope = scope
        self._send = send
        self._unread = unread
        self._request_id = request_id
        self._body_wanted = body_wanted
        self.status = 0

    async def __call__(self, message: Message) -> None:
        kind = message["type"].removeprefix("websocket.")
        if kind == "http.response.start":
            self.status = message["status"]
            present = {name for name, _ in message["headers"]}
            missing = [item for item in UNLESS_SET.items() if item[0] not in present]
            message["headers"] = [*message["headers"], *ALWAYS, *missing, (b"request-id", self._request_id)]
        elif kind == "accept":
            self.status = 101
        elif not self._body_wanted:
            message = {**message, "body": b""}
        elif len(message.get("body", b"")) > PIECE and kind == "http.response.body":
            await self._unread.send(self._scope, self._send, message)
            return
        await self._send(message)


async def _recover(error: Exception, scope: Scope, receive: Receive, answer: _Answer) -> None:
    """Respond to an unhandled exception, unless a response has already begun."""
    if isinstance(error, Problem):
        problem = error
    else:
        problem = internal_error()
        log.error(
            "fault",
            error=type(error).__name__,
            message=None if isinstance(error, _TELLING) else str(error),
            cause=type(error.__cause__).__name__ if error.__cause__ else None,
            frames=_frames(error),
        )
    if answer.status == 0:
        await problem_response(problem, scope)(scope, receive, answer)


def _frames(error: Exception) -> list[str]:
    """The traceback's location: this package's frames and the innermost one."""
    frames = traceback.extract_tb(error.__traceback__)
    kept = [frame for frame in frames if f"{os.sep}ipucloud{os.sep}" in frame.filename or frame is frames[-1]]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in kept]
