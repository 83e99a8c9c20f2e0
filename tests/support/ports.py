"""Ports that nothing listens on."""

from __future__ import annotations

from ipucloud.cli.service.ports import free_port

_given: set[int] = set()


def free_ports(number: int) -> list[int]:
    """So many different ports of 127.0.0.1, outside the range of outgoing connections, free a moment ago."""
    return [free_port("127.0.0.1", 0, _given) for _ in range(number)]
