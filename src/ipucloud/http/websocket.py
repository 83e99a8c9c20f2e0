"""uvicorn's WebSockets over wsproto, within limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.wsproto_impl import WSProtocol
from wsproto import events

from ipucloud.http.sockets import UNREAD_BYTES


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
