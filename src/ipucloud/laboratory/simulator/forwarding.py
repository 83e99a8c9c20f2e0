"""TCP connections that are forwarded from one place to another."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

from ipucloud.laboratory.simulator.sources import allows

CHUNK = 64 * 1024
CONNECT_SECONDS = 10.0
BACKLOG = 128


class Forwarder:
    """Forwards connections to `port` at `host`, from `start` to `stop`, which breaks off those that are open.

    `allowed_sources`: networks of the clients whose connections are taken; none: all.
    """

    def __init__(self, host: str, port: int) -> None:
        self.port = port
        self.allowed_sources: Sequence[str] = ()
        self._clients: dict[int, asyncio.StreamWriter] = {}
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
        peer = writer.get_extra_info("peername")  # None: it has left already
        if peer is None or not allows(self.allowed_sources, str(peer[0])):
            writer.transport.abort()
            return
        task = asyncio.create_task(self._forward(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward: asyncio.StreamWriter | None = None
        way = socket.socket(socket.AF_INET6 if ":" in self._host else socket.AF_INET)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._connect(way, writer)
                back, onward = await asyncio.open_connection(sock=way)
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_copy(reader, onward))
                ways.create_task(_copy(back, writer))
        except* (OSError, TimeoutError):
            pass
        finally:
            self._clients = {port: client for port, client in self._clients.items() if client is not writer}
            for end in (writer, onward):
                if end is not None:
                    end.transport.abort()
            if onward is None:
                way.close()

    async def _connect(self, way: socket.socket, client: asyncio.StreamWriter) -> None:
        """Connect the socket; whose connection goes on is known before the server gets it. Raises OSError."""
        way.setblocking(False)
        way.bind((self._host, 0))
        self._clients[way.getsockname()[1]] = client
        await asyncio.get_running_loop().sock_connect(way, (self._host, self.port))

    def client_of(self, port: int) -> str | None:
        """The client whose connection goes on from this local port."""
        client = self._clients.get(port)
        return None if client is None else str(client.get_extra_info("peername")[0])


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copy to the end. Raises OSError when an end breaks off, which ends the other way, too."""
    while data := await source.read(CHUNK):
        sink.write(data)
        await sink.drain()
    if sink.can_write_eof():
        sink.write_eof()
