"""Listening sockets: a process's own, or passed by its supervisor."""

from __future__ import annotations

import os
import socket

BACKLOG = 2048


class ListenError(Exception):
    """An address cannot be listened on; the message is a sentence for a human."""


def listener(host: str, port: int, descriptor: int | None = None) -> socket.socket:
    """A socket that listens on the address, or the listening one that was passed as `descriptor`.

    A passed socket stays open while its program restarts: clients that connect meanwhile wait, and no other program can
    take the port. Raises ListenError.
    """
    if descriptor is not None:
        return socket.socket(fileno=descriptor)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ListenError(f"Port {port} of {host} cannot be listened on: {reason}. Choose another one.") from error
