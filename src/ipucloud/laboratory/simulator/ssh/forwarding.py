"""Connections that a customer forwards to what listens on the server itself.

asyncssh's own forwarder drops what a listener says before the channel is open, and leaves the channel open when the
customer's end is the last to end: `ssh -W` then never returns.
"""

from __future__ import annotations

import asyncio
import socket

import asyncssh
from asyncssh.stream import SSHTCPStreamSession

CHUNK = 64 * 1024


def forwarded(listener: socket.socket) -> asyncssh.SSHTCPSession[bytes]:
    """The customer's end of a connection to a listener; it is served as soon as it is open."""

    async def serve(reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]) -> None:
        try:
            await _join(listener, reader, writer)
        finally:
            writer.close()

    return SSHTCPStreamSession[bytes](serve)


async def _join(listener: socket.socket, reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]) -> None:
    from_listener, to_listener = await asyncio.open_connection(sock=listener)
    try:
        async with asyncio.TaskGroup() as ways:
            ways.create_task(_copy(reader, to_listener))
            ways.create_task(_copy(from_listener, writer))
    except* (OSError, asyncssh.Error):
        pass
    finally:
        to_listener.close()


async def _copy(
    source: asyncio.StreamReader | asyncssh.SSHReader[bytes], sink: asyncio.StreamWriter | asyncssh.SSHWriter[bytes]
) -> None:
    """Copy to the end. Raises OSError or asyncssh.Error when an end breaks off, which ends the other way, too."""
    while data := await source.read(CHUNK):
        sink.write(data)
        await sink.drain()
    sink.write_eof()
