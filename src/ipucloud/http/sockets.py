"""WebSockets: their limits, and one connection. They are served on the paths of terminals only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipucloud.http.websocket import Socket

PATH_END = b"/terminal"
"""Every other request to upgrade is served as if it had not asked for it."""
MESSAGE_BYTES = 65_536
PING_SECONDS = 20.0
UNREAD_BYTES = 262_144
"""Of answers to its pings; a client that reads none of them is closed."""


def websocket(*, over: Callable[[], None], **around: Any) -> Socket:
    """A connection after its upgrade, of a protocol that is imported with the first of them."""
    from ipucloud.http.websocket import Socket

    return Socket(over=over, **around)
