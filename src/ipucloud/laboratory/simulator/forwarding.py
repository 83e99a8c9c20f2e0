"""TCP connections that are forwarded from one place to another."""

from __future__ import annotations

import asyncio

CHUNK = 64 * 1024
CONNECT_SECONDS = 10.0
BACKLOG = 128


class Forwarder:
    """Forwards every connection to `port` at `host`, from `start` to `stop`, which breaks off those that are open."""

    def __init__(self, host: str, port: int) -> None:
        self.port = port
        self._host = host
        self._listener: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, host: str, port: int) -> None:
        """Listen. Raises OSError when that is not possible there."""
        self._listener = await asyncio.start_server(self._accept, host, port, backlog=BACKLOG)

    async def stop(self) -> None:
        """Listen no longer."""
        if self._listener is not None:
            self._listener.close()
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._forward(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward: asyncio.StreamWriter | None = None
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                back, onward = await asyncio.open_connection(self._host, self.port)
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_copy(reader, onward))
                ways.create_task(_copy(back, writer))
        except* (OSError, TimeoutError):
            pass
        finally:
            for end in (writer, onward):
                if end is not None:
                    end.transport.abort()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copy to the end. Raises OSError when an end breaks off, which ends the other way, too."""
    while data := await source.read(CHUNK):
        sink.write(data)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()
