"""The only way from a delivering process to a bucket's service.

The S3 client looks a name up by itself, at every connection, and takes no resolver of ours: between our check and its
connection the name could be bound to a private address. So it is given a proxy (CONNECT, RFC 9110 section 9.3.6) in its
own process: that looks the name up, judges every address that it has, and connects to one of those. What goes through
is TLS between the client and the service, whose certificate the client holds against the name.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from ipucloud.kernel.addresses import Address, is_public, parse
from ipucloud.kernel.names import Resolve, resolve

SECONDS = 10.0
"""For a request's head, a name and a connection together."""
_PIECE = 1 << 16
_NOT_PUBLIC = "The endpoint's address is not a public one."
_ELSEWHERE = "The bucket's service leads to another one."

Result = TypeVar("Result")
Judge = Callable[[Address], bool]


class _RefusedError(Exception):
    """Nothing is connected to, and why: a sentence that repeats none of what was asked."""


class Passage:
    """A proxy on the loopback address, in a thread of its own, that leads to one endpoint and nowhere else.

    `refusal` says what it refused last, in words for customers. `judge` tells which addresses may be connected to.
    """

    def __init__(self, host: str, port: int, *, resolve: Resolve = resolve, judge: Judge = is_public) -> None:
        self._host, self._port = host, port
        self._resolve, self._judge = resolve, judge
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="passage", daemon=True)
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
        await asyncio.sleep(0)  # transports close one turn after they were told to

    def _do(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._loop.create_task(self._meet(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await self._opened(reader)
        except _RefusedError as refused:
            self.refusal = str(refused)
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
        """A connection to an address that was judged. Raises _RefusedError, OSError, TimeoutError."""
        async with asyncio.timeout(SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            host = f"[{self._host}]" if ":" in self._host else self._host
            if head.split(b" ")[:2] != [b"CONNECT", f"{host}:{self._port}".encode()]:
                raise _RefusedError(_ELSEWHERE)
            found = await self._resolve(self._host, self._port)
            if not found or not all(map(self._allowed, found)):
                raise _RefusedError(_NOT_PUBLIC)
            return await _connected(found, self._port)

    def _allowed(self, text: str) -> bool:
        address = parse(text)
        return address is not None and self._judge(address)


async def _connected(addresses: Sequence[str], port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """By the first address that answers. Raises OSError of the last."""
    *others, last = addresses
    for address in others:
        with suppress(OSError):
            return await asyncio.open_connection(address, port)
    return await asyncio.open_connection(last, port)


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one end is closed, or broken; then the other one is."""
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()


async def _answer(writer: asyncio.StreamWriter, status: bytes) -> None:
    with suppress(ConnectionError):
        writer.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
