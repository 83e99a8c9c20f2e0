"""Links between IPUs."""

from __future__ import annotations

from enum import StrEnum


class LinkKind(StrEnum):
    """A link by where it leads: among a machine's own IPUs, to the next machine, through the gateway."""

    INTERNAL = "internal"
    NEXT = "next"
    GATEWAY = "gateway"


class LinkState(StrEnum):
    """`degraded` carries traffic with errors: partitions live on, tests find it. Over `down` nothing passes."""

    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"
