"""Listening ports that a restart finds again."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

# Below the range from which Linux takes the ports of outgoing connections (32768 and up): a port that waits for its
# owner's restart there could be taken meanwhile.
PORTS = range(20000, 32001)
ATTEMPTS = 50

T = TypeVar("T")


class PortTaken(Exception):
    """This process cannot listen where it must: another one does, as a rule."""


def read_ports(text: str) -> range:
    """The range that is written as FIRST-LAST. Raises ValueError."""
    first, _, last = text.partition("-")
    ports = range(int(first), int(last) + 1) if first.isdecimal() and last.isdecimal() else range(0)
    if not ports or ports.start < 1 or ports.stop > 65536:
        raise ValueError(f"{text!r} is no range of ports, as in 20000-32000")
    return ports


def candidates(ports: range) -> Iterator[int]:
    """Ports of a range to try, in no order."""
    return (random.choice(ports) for _ in range(ATTEMPTS))  # noqa: S311 - any free port will do


async def listen_on(port: int | None, listen: Callable[[int], Awaitable[T]], ports: range = PORTS) -> tuple[int, T]:
    """Listen on `port`, or on a free one of `ports` when it is None; answers the port and what `listen` made.

    Raises PortTaken when `port` is not free, or none could be found. `listen` raises OSError for a port in use.
    """
    if port is not None:
        try:
            return port, await listen(port)
        except OSError as error:
            raise PortTaken(f"port {port} cannot be listened on: {error.strerror or error}") from error
    for candidate in candidates(ports):
        try:
            return candidate, await listen(candidate)
        except OSError:
            continue
    raise PortTaken(f"no free port was found from {ports.start} to {ports.stop - 1}")
