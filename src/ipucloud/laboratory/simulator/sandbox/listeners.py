"""Whose the ports of this machine are, where servers share its network."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

_LISTENS = "0A"
_REACHED = frozenset(
    {
        "0100007F",  # 127.0.0.1
        "00000000",
        "0" * 32,  # ::
        f"{'0' * 24}01000000",  # ::1
        f"{'0' * 16}FFFF00000100007F",  # ::ffff:127.0.0.1
    }
)
"""Addresses at which a listener takes connections to the loopback address, as /proc/net/tcp writes them."""


def is_own(port: int, processes: Iterable[int]) -> bool:
    """Whether what listens on a port of the loopback address belongs to these processes, and to no others."""
    sockets = _listening(port)
    return bool(sockets) and sockets <= _sockets(processes)


def _listening(port: int) -> set[str]:
    sockets = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError), open(f"/proc/net/{table}") as file:
            for line in file.readlines()[1:]:
                fields = line.split()
                address, _, number = fields[1].partition(":")
                if fields[3] == _LISTENS and int(number, 16) == port and address in _REACHED:
                    sockets.add(f"socket:[{fields[9]}]")
    return sockets


def _sockets(processes: Iterable[int]) -> set[str]:
    sockets = set()
    for pid in processes:
        with suppress(OSError):
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    sockets.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
    return sockets
