"""Redfish events: what breaks at the site or is repaired is told to whoever listens, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

HEARTBEAT_SECONDS = 15.0
"""Pause after which a listener gets a comment, so that it can tell a quiet site from a dead connection."""
MOST = 1_000
"""Events that wait for a slow listener; it misses those beyond, as at a real BMC."""


class Events:
    """Tells each listener what happened since it began to listen. `close` ends all streams."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[bytes | None]] = set()
        self._count = 0

    def notify(self, origin: str) -> None:
        """Something happened to the object with this path."""
        self._count += 1
        event = {
            "@odata.type": "#Event.v1_7_0.Event",
            "Id": str(self._count),
            "Name": "Status changed",
            "Events": [
                {
                    "MemberId": "0",
                    "MessageId": "ResourceEvent.1.3.ResourceStatusChanged",
                    "OriginOfCondition": {"@odata.id": origin},
                }
            ],
        }
        line = f"id: {self._count}\ndata: {json.dumps(event)}\n\n".encode()
        for listener in self._listeners:
            if listener.qsize() < MOST:
                listener.put_nowait(line)

    async def stream(self) -> AsyncIterator[bytes]:
        """What happens from now on, until `close`."""
        listener: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._listeners.add(listener)
        try:
            yield b": listening\n\n"
            while True:
                try:
                    line = await asyncio.wait_for(listener.get(), HEARTBEAT_SECONDS)
                except TimeoutError:
                    line = b": still here\n\n"
                if line is None:
                    return
                yield line
        finally:
            self._listeners.discard(listener)

    def close(self) -> None:
        for listener in self._listeners:
            listener.put_nowait(None)
