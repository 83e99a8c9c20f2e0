"""Ports to listen on."""

from __future__ import annotations

import random
import socket

from ipucloud.cli.service.errors import CommandError

# Below the range from which Linux takes the ports of outgoing connections (32768 and up), so that a port stays free
# while its program is started again.
FIRST_PORT, LAST_PORT = 20000, 32000
ATTEMPTS = 100


class PortError(CommandError):
    """No port was free."""


def free_port(host: str, wanted: int, taken: set[int]) -> int:
    """`wanted` if nothing listens there, else another port, which then is one of `taken` and not given again.

    Raises PortError.
    """
    random_ports = (random.randint(FIRST_PORT, LAST_PORT) for _ in range(ATTEMPTS))  # noqa: S311 (any will do)
    for port in (wanted, *random_ports):
        if port and port not in taken and _is_free(host, port):
            taken.add(port)
            return port
    raise PortError(f"No free port was found on {host} between {FIRST_PORT} and {LAST_PORT}.")


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError:
            return False
    return True
