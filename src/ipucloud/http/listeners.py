"""Listening sockets: a process's own, or passed by its supervisor."""

from __future__ import annotations

import os
import socket

BACKLOG = 2048
UNSENT_BYTES = 131_072
"""What the kernel holds of an answer beyond what is on its way. It would take megabytes, whoever reads them."""


class ListenError(Exception):
    """An address cannot be listened on; the message is a sentence for a human."""


def listener(host: str, port: int, descriptor: int | None = None) -> socket.socket:
    """A socket that listens on the address, or the listening one that was passed as `descriptor`.

    A passed socket stays open while its program restarts: clients that connect meanwhile wait, and no other program can
    take the port. Raises ListenError.
    """
    listening = _open(host, port, descriptor)
    if hasattr(socket, "TCP_NOTSENT_LOWAT") and listening.family in {socket.AF_INET, socket.AF_INET6}:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)  # its connections inherit it
    return listening


def _open(host: str, port: int, descriptor: int | None) -> socket.socket:
    if descriptor is not None:
        return socket.socket(fileno=descriptor)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ListenError(f"Port {port} of {host} cannot be listened on: {reason}. Choose another one.") from error
