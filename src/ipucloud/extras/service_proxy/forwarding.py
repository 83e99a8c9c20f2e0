"""One HTTP request to a program that listens on a Poplar server, over a channel of an SSH connection."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

import httpcore
import structlog
from starlette.responses import StreamingResponse
from starlette.types import Send

if TYPE_CHECKING:
    import asyncssh

log = structlog.get_logger(__name__)

Fields = list[tuple[bytes, bytes]]

HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
NOT_SENT = frozenset({b"authorization", b"cookie", b"expect", b"forwarded", b"host", b"request-id"})
"""Of a request. The caller's credentials are for this service alone."""
NOT_SENT_BEGINNING = b"x-forwarded-"
NOT_PASSED_ON = frozenset(
    {
        b"alt-svc",
        b"clear-site-data",
        b"content-security-policy",
        b"content-security-policy-report-only",
        b"cross-origin-resource-policy",
        b"date",
        b"nel",
        b"ratelimit",
        b"ratelimit-policy",
        b"referrer-policy",
        b"report-to",
        b"reporting-endpoints",
        b"request-id",
        b"service-worker-allowed",
        b"set-cookie",
        b"set-cookie2",
        b"strict-transport-security",
        b"www-authenticate",
        b"x-content-type-options",
    }
)
"""Of an answer: what speaks for the host from which the browser has it, and what this service says itself."""
NOT_PASSED_ON_BEGINNING = b"access-control-"
_LAST_STATUS = 599
_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
"""What no field may have, and the server does not send (RFC 9110, 5.5)."""
_WITHOUT_BODY = frozenset({204, 304})
HARMLESS = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox")
"""A page of a program runs no scripts and belongs to no origin."""


def request_fields(headers: Iterable[tuple[bytes, bytes]], *, host: str, prefix: str, request_id: str) -> Fields:
    """The header that a program gets; `prefix` is the path under which the caller sees its root."""
    kept = [
        (name, value)
        for name, value in _end_to_end(headers)
        if name not in NOT_SENT and not name.startswith(NOT_SENT_BEGINNING)
    ]
    chunked = any(name.lower() == b"transfer-encoding" for name, _ in headers)
    if chunked:
        kept = [(name, value) for name, value in kept if name != b"content-length"]
    own: Fields = [
        (b"host", host.encode()),
        (b"connection", b"close"),
        (b"x-forwarded-prefix", prefix.encode()),
        (b"request-id", request_id.encode()),
    ]
    return [*own, *kept, *([(b"transfer-encoding", b"chunked")] if chunked else [])]


def answer_fields(headers: Iterable[tuple[bytes, bytes]], status: int = 200) -> Fields:
    """The header that the caller gets."""
    kept = [
        (name, value)
        for name, value in _end_to_end(headers)
        if name not in NOT_PASSED_ON and not name.startswith(NOT_PASSED_ON_BEGINNING)
    ]
    chunked = any(name.lower() == b"transfer-encoding" for name, _ in headers)  # it says where the body ends
    if chunked or status in _WITHOUT_BODY:
        kept = [(name, value) for name, value in kept if name != b"content-length"]
    return [*kept, HARMLESS]


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Fields:
    """Names in lower case, without what concerns only the connection, which `Connection` can name too."""
    fields = [(name.lower(), value) for name, value in headers]
    named = {each.strip().lower() for name, value in fields if name == b"connection" for each in value.split(b",")} - {
        b"content-length",
        b"content-type",
    }
    return [(name, value) for name, value in fields if name not in HOP_BY_HOP | named]


class ChannelStream(httpcore.AsyncNetworkStream):
    """httpcore's view of a channel."""

    def __init__(self, reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  # httpcore's shape
        import asyncssh

        try:
            async with asyncio.timeout(timeout):
                return await self._reader.read(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout from error
        except (OSError, asyncssh.Error) as error:
            raise httpcore.ReadError from error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  # httpcore's shape
        import asyncssh

        try:
            async with asyncio.timeout(timeout):
                self._writer.write(buffer)
                await self._writer.drain()
        except TimeoutError as error:
            raise httpcore.WriteTimeout from error
        except (OSError, asyncssh.Error) as error:
            raise httpcore.WriteError from error

    async def aclose(self) -> None:
        self._writer.channel.abort()

    def get_extra_info(self, info: str) -> Any:
        return None


async def ask(
    stream: ChannelStream, method: str, target: bytes, fields: Fields, body: AsyncIterable[bytes], *, seconds: float
) -> httpcore.Response:
    """The answer, once its header is there; its body is to be read. A connection serves one request.

    Raises httpcore's errors: ReadTimeout and WriteTimeout after `seconds`, LocalProtocolError for a request that is no
    HTTP, NetworkError and RemoteProtocolError; and whatever `body` raises.
    """
    url = httpcore.URL(scheme=b"http", host=b"127.0.0.1", port=None, target=target)
    connection = httpcore.AsyncHTTP11Connection(url.origin, stream)
    request = httpcore.Request(
        method,
        url,
        headers=fields,
        content=body,
        extensions={"timeout": {"read": seconds, "write": seconds}},
    )
    answer = await connection.handle_async_request(request)
    if not 200 <= answer.status <= _LAST_STATUS:
        raise httpcore.RemoteProtocolError("an upgrade that nobody asked for, or a status that HTTP does not have")
    if any(_CONTROL.search(value) for _, value in answer.headers):
        raise httpcore.RemoteProtocolError("a control character in the header")
    return answer


ANSWER_SECONDS = 3600.0
"""An answer that takes longer is broken off: its caller may have lost access meanwhile."""


class _BrokenOff(Exception):
    """The body ended before its end."""


class ForwardedAnswer(StreamingResponse):
    """What the program answers, passed on as it arrives. If it breaks off, so does the caller's connection."""

    def __init__(self, answer: httpcore.Response) -> None:
        super().__init__(_parts(answer), answer.status)
        self.raw_headers = answer_fields(answer.headers, answer.status)

    async def stream_response(self, send: Send) -> None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await super().stream_response(send)
        except (TimeoutError, _BrokenOff) as error:
            log.info("service_answer_broken_off", error=type(error.__cause__ or error).__name__)


async def _parts(answer: httpcore.Response) -> AsyncIterator[bytes]:
    try:
        async for part in answer.aiter_stream():
            yield part
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise _BrokenOff from error
