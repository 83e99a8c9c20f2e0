"""A customer's own HTTP server, as far as webhooks see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class ReceivedRequest:
    """A request: its path, headers by lower-case name, and body."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers every request with the next status of `script`, else with `status`.

    `connections`: how many there were, also those that sent nothing.

    `stalled`: it takes requests and answers none. `endless`: its bodies have no end; `sent` counts their bytes.
    """

    status: int = 204
    script: list[int] = field(default_factory=list)
    port: int = 0
    got: list[ReceivedRequest] = field(default_factory=list)
    connections: int = 0
    stalled: bool = False
    endless: bool = False
    sent: int = 0
    location: str = ""
    retry_after: str = ""
    open: dict[asyncio.Task[None], asyncio.StreamWriter] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self.open[task] = writer
        try:
            await self._talk(reader, writer)
        finally:
            del self.open[task]
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            got = await _read(reader)
            self.got.append(got)
            if self.stalled:
                await reader.read()
            else:
                await self._answer(writer, self.script.pop(0) if self.script else self.status)

    async def _answer(self, writer: asyncio.StreamWriter, status: int) -> None:
        where = f"location: {self.location}\r\n" if self.location else ""
        when = f"retry-after: {self.retry_after}\r\n" if self.retry_after else ""
        length = 1_000_000_000 if self.endless else 0
        writer.write(f"HTTP/1.1 {status} Given\r\n{where}{when}content-length: {length}\r\n\r\n".encode())
        await writer.drain()
        while self.endless:
            writer.write(b"x" * 16_384)
            await writer.drain()
            self.sent += 16_384


async def _read(reader: asyncio.StreamReader) -> ReceivedRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    return ReceivedRequest(first.split()[1], headers, await reader.readexactly(int(headers.get("content-length", 0))))


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for writer in receiver.open.values():
            writer.transport.abort()
        await asyncio.gather(*receiver.open)
