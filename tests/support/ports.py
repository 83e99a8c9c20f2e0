"""Ports that nothing listens on."""

from __future__ import annotations

import os
from contextlib import ExitStack

from ipucloud.laboratory.up.ports import listen_near

PORTS_OF_A_WORKER = 1000


def own_ports() -> str:
    """A range of ports that no other of parallel workers listens on: what is stopped there can be started again."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 10
    first = 10_000 + worker * PORTS_OF_A_WORKER
    return f"{first}-{first + PORTS_OF_A_WORKER - 1}"


def free_ports(number: int) -> list[int]:
    """So many different ports of 127.0.0.1, outside the range of outgoing connections, free a moment ago."""
    with ExitStack() as stack:
        bound = [stack.enter_context(listen_near("127.0.0.1", 0)) for _ in range(number)]
        return [each.getsockname()[1] for each in bound]
