"""What the sensors of a machine show. Pure: a chip's own constant, derived from its name, and whether it works.

The levels are our choice, of the size that such boards have; nothing in the control plane depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from ipucloud.wire.site import LinkState

_ERRORS = {LinkState.UP: 0, LinkState.DEGRADED: 1000, LinkState.DOWN: 100_000}


@dataclass(frozen=True)
class Sensors:
    """One IPU: temperatures of its board and die, and what it draws."""

    board_celsius: float
    die_celsius: float
    watts: float


IDLE = Sensors(29.0, 36.0, 48.0)
BUSY = Sensors(38.0, 62.0, 165.0)
SPREAD = 0.06


def sensors_of(machine: str, ipu: int, *, busy: bool) -> Sensors:
    """The sensors of an IPU that is in a partition (`busy`), or in none."""
    level, factor = BUSY if busy else IDLE, 1.0 + SPREAD * _deviation(machine, ipu)
    return Sensors(
        round(level.board_celsius * factor, 1), round(level.die_celsius * factor, 1), round(level.watts * factor, 1)
    )


def correctable_errors(machine: str, ipu: int, links: LinkState) -> int:
    """How many link errors an IPU has counted, when the worst link of its machine is in this state."""
    return round(_ERRORS[links] * (1.0 + SPREAD * _deviation(machine, ipu)))


@lru_cache(maxsize=4096)
def _deviation(machine: str, ipu: int) -> float:
    digest = blake2b(f"sensors:{machine}/{ipu}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 2**31 - 1.0
