"""Ports that nothing listens on."""

from __future__ import annotations

import socket


def free_ports(number: int) -> list[int]:
    """So many different ports of 127.0.0.1, free a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [bound.getsockname()[1] for bound in sockets]
    for bound in sockets:
        bound.close()
    return ports
