"""Ports to listen on."""

from __future__ import annotations

import random
import socket

from ipucloud.cli.service.errors import CommandError
from ipucloud.http.listeners import ListenError, listener
from ipucloud.laboratory.simulator.ports import ATTEMPTS, FIRST_PORT, LAST_PORT


class PortError(CommandError):
    """No port was free."""


def listen_near(host: str, wanted: int) -> socket.socket:
    """A socket that listens on port `wanted`, or on another one where that is 0 or taken. Raises PortError."""
    random_ports = (random.randint(FIRST_PORT, LAST_PORT) for _ in range(ATTEMPTS))  # noqa: S311 (any will do)
    for port in (wanted, *random_ports):
        if port == 0:
            continue
        try:
            return listener(host, port)
        except ListenError:
            continue
    raise PortError(f"No port could be listened on at {host}, neither {wanted} nor {FIRST_PORT} to {LAST_PORT}.")
