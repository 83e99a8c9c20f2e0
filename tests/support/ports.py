"""Ports that nothing listens on."""

from __future__ import annotations

from contextlib import ExitStack

from ipucloud.laboratory.up.ports import listen_near


def free_ports(number: int) -> list[int]:
    """So many different ports of 127.0.0.1, outside the range of outgoing connections, free a moment ago."""
    with ExitStack() as stack:
        bound = [stack.enter_context(listen_near("127.0.0.1", 0)) for _ in range(number)]
        return [each.getsockname()[1] for each in bound]
