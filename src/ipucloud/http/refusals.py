"""The reasons to refuse a client or close its connection, and the answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from http import HTTPStatus
from typing import NamedTuple

import orjson

from ipucloud.http.headers import ALWAYS, UNLESS_SET
from ipucloud.http.limits import Limits
from ipucloud.kernel.errors import (
    HEADER_TOO_LARGE,
    MALFORMED_REQUEST,
    MEDIA_TYPE,
    RATE_LIMITED,
    REQUEST_TIMEOUT,
    TOO_MANY_CONNECTIONS,
    UNAVAILABLE,
    Problem,
)

AGAIN = {"Retry-After": "1"}


class Reason(StrEnum):
    """The label `reason` of the metric and of the log line."""

    MALFORMED = "malformed"
    HOST = "host"
    HEADER_BYTES = "header_bytes"
    HEADER_LINE = "header_line"
    HEADER_COUNT = "header_count"
    HEADER_TIMEOUT = "header_timeout"
    BODY_TIMEOUT = "body_timeout"
    PIPELINE = "pipeline"
    ADDRESS_FULL = "address_full"
    FULL = "full"
    # These close the connection without an answer: no one would read it, or an answer is already being sent.
    SHED = "shed"
    IDLE = "idle"
    WRITE_TIMEOUT = "write_timeout"
    UNREAD = "unread"
    TLS = "tls"


class Refusal(NamedTuple):
    """An answer as sent, in two parts: the server's date belongs between them."""

    status_line: bytes
    rest: bytes


def refusals(limits: Limits) -> Mapping[Reason, Refusal]:
    """The answer for each reason that has one."""
    return {reason: _refusal(problem) for reason, problem in _problems(limits).items()}


def _problems(limits: Limits) -> dict[Reason, Problem]:
    return {
        Reason.MALFORMED: Problem(MALFORMED_REQUEST, "This is not HTTP/1.1. Correct the client."),
        Reason.HOST: Problem(MALFORMED_REQUEST, "An HTTP/1.1 request has the header Host exactly once."),
        Reason.HEADER_BYTES: Problem(
            HEADER_TOO_LARGE,
            f"Request line, header, trailers and chunk extensions have at most {limits.header_bytes} bytes together.",
            extra={"limit": limits.header_bytes},
        ),
        Reason.HEADER_LINE: Problem(
            HEADER_TOO_LARGE,
            f"The request line and each header field have at most {limits.line_bytes} bytes.",
            extra={"limit": limits.line_bytes},
        ),
        Reason.HEADER_COUNT: Problem(
            HEADER_TOO_LARGE,
            f"A request has at most {limits.header_count} header fields.",
            extra={"limit": limits.header_count},
        ),
        Reason.HEADER_TIMEOUT: Problem(
            REQUEST_TIMEOUT,
            f"The header did not arrive within {limits.header_seconds:g} seconds. Send the request again.",
        ),
        Reason.BODY_TIMEOUT: Problem(
            REQUEST_TIMEOUT,
            f"The body did not arrive within {limits.body_seconds:g} seconds. Send the request again.",
        ),
        Reason.PIPELINE: Problem(
            RATE_LIMITED,
            f"Send at most {limits.pipelined} requests ahead of their answers on one connection.",
            headers=AGAIN,
        ),
        Reason.ADDRESS_FULL: Problem(
            TOO_MANY_CONNECTIONS,
            f"Your address has {limits.per_address} connections in use. Use fewer of them for more requests.",
            headers=AGAIN,
            extra={"limit": limits.per_address},
        ),
        Reason.FULL: Problem(UNAVAILABLE, "All connections are in use. Try again shortly.", headers=AGAIN),
    }


def _refusal(problem: Problem) -> Refusal:
    status = HTTPStatus(problem.kind.status)
    body = orjson.dumps(problem.document())
    fields = [
        (b"connection", b"close"),
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        *((name.lower().encode(), value.encode()) for name, value in problem.headers.items()),
        *ALWAYS,
        *UNLESS_SET.items(),
    ]
    return Refusal(f"HTTP/1.1 {status} {status.phrase}\r\n".encode(), lines(fields) + b"\r\n" + body)


def lines(fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Header fields as sent."""
    return b"".join([b"%b: %b\r\n" % field for field in fields])
