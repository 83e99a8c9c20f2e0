"""Ports to listen on."""

from __future__ import annotations

import socket
from pathlib import Path

from ipucloud.cli.service.failures import CommandError
from ipucloud.http.listeners import ListenError, listener
from ipucloud.laboratory.keeper.keeper import Say
from ipucloud.laboratory.simulator.ports import PORTS, candidates


class PortError(CommandError):
    """A port cannot be listened on."""


def listen_near(host: str, preferred: int) -> socket.socket:
    """A socket that listens on port `preferred`, or on another one where that is 0 or taken. Raises PortError."""
    for port in (preferred, *candidates(PORTS)):
        if port == 0:
            continue
        try:
            return listener(host, port)
        except ListenError:
            continue
    raise PortError(
        f"No port could be listened on at {host}, neither {preferred} nor {PORTS.start} to {PORTS.stop - 1}."
    )


def listen_kept(host: str, requested: int | None, usual: int, kept: Path, say: Say) -> socket.socket:
    """A socket that listens on the same port at every start, so that stored URLs stay valid; `kept` is its file.

    `requested` is the port that was asked for: only that one will do. 0: any port, the kept one if it is free. None:
    only the kept one; on the first start `usual`, or any where that is taken. Raises PortError.
    """
    earlier = int(kept.read_text()) if kept.exists() else None
    only = requested or (earlier if requested is None else None)
    if only:
        try:
            bound = listener(host, only)
        except ListenError as error:
            known = (
                " Earlier starts used it: with another port, stored URLs need to be changed." if only == earlier else ""
            )
            raise PortError(f"{error} Use --port, or stop the program that has it.{known}") from error
    else:
        bound = listen_near(host, usual if requested is None else earlier or 0)
        if requested is None and port_of(bound) != usual:
            say(f"Port {usual} is taken. The API has port {port_of(bound)}, also at later starts; --port changes it.")
    kept.write_text(f"{port_of(bound)}\n")
    return bound


def port_of(bound: socket.socket) -> int:
    port: int = bound.getsockname()[1]
    return port
