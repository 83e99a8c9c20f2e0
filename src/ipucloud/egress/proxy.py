"""A forward proxy for clients that resolve names themselves and cannot use a `Guard`, such as an S3 client.

It speaks CONNECT (RFC 9110, section 9.3.6) on the loopback address and connects through the guard. It carries
TLS between the client and the service, whose certificate the client checks against the name.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from ipucloud.egress.guard import ForbiddenAddressError, Guard

SECONDS = 10.0
"""For a request's head, name resolution and connection together."""
_PIECE = 1 << 16
_NOT_PUBLIC = "The endpoint's address is not public."
_ELSEWHERE = "The bucket's service redirects to another host."

Result = TypeVar("Result")


class _OtherEndpointError(Exception):
    """The client requested another endpoint than the proxy's."""


class EgressProxy:
    """A proxy in its own thread that connects to one endpoint only.

    `refusal`: why it last refused a connection, as a message for customers without any input.
    """

    def __init__(self, host: str, port: int, guard: Guard) -> None:
        self._host, self._port, self._guard = host, port, guard
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="egress-proxy", daemon=True)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""
        self.refusal: str | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = self._do(asyncio.start_server(self._accept, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # transports close one iteration of the loop later

    def _do(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._meet(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await self._opened(reader)
        except (_OtherEndpointError, ForbiddenAddressError) as error:
            self.refusal = _NOT_PUBLIC if isinstance(error, ForbiddenAddressError) else _ELSEWHERE
            await _answer(writer, b"403 Forbidden")
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            await _answer(writer, b"502 Bad Gateway")
        else:
            try:
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                await asyncio.gather(_carry(reader, far_writer), _carry(far_reader, writer))
            finally:
                far_writer.close()
        finally:
            writer.close()

    async def _opened(self, reader: asyncio.StreamReader) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Raises _OtherEndpointError, ForbiddenAddressError, OSError, TimeoutError."""
        async with asyncio.timeout(SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            host = f"[{self._host}]" if ":" in self._host else self._host
            if head.split(b" ")[:2] != [b"CONNECT", f"{host}:{self._port}".encode()]:
                raise _OtherEndpointError
            return await self._guard.connect(
                self._host, self._port, lambda address: asyncio.open_connection(address, self._port)
            )


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until one end is closed or fails, then close the other."""
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()


async def _answer(writer: asyncio.StreamWriter, status: bytes) -> None:
    with suppress(ConnectionError):
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
