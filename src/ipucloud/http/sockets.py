"""uvicorn's WebSockets over wsproto, within limits. They are served on the paths of terminals only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.wsproto_impl import WSProtocol
from wsproto import events

PATH_END = b"/terminal"
"""Every other request to upgrade is served as if it had not asked for it."""
MESSAGE_BYTES = 65_536
PING_SECONDS = 20.0
UNREAD_BYTES = 262_144
"""Of answers to its pings; a client that reads none of them is closed."""


class Socket(WSProtocol):
    """One connection after its upgrade. `over` is called when it is closed."""

    def __init__(self, *, over: Callable[[], None], **around: Any) -> None:
        super().__init__(**around)
        self._over = over

    def connection_lost(self, exc: Exception | None) -> None:
        self._over()
        super().connection_lost(exc)

    def handle_ping(self, event: events.Ping) -> None:
        if self.transport.get_write_buffer_size() > UNREAD_BYTES:
            self.transport.abort()
        else:
            super().handle_ping(event)
