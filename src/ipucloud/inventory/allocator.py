"""Which machines a new cluster gets, or why it gets none. Pure: a snapshot in, a placement or a reason out.

Up to 16 machines come from one IPU-Link domain as an aligned block; more come as whole neighbouring domains, an aligned
run of consecutive positions of one GW-Link group. A run does not wrap around a ring's end: buddy alignment already
pairs every position once, and a wrapped run would break two aligned ones.

Of all blocks that fit, the allocator takes the one whose largest enclosing usable block is smallest, so that large free
blocks stay whole; the hierarchy of enclosing blocks extends from slots to domains. Ties go to the pod that comes first
in the snapshot, then to the lowest slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from ipucloud.inventory.fit import Fit
from ipucloud.inventory.snapshot import Pod, SlotState, usable
from ipucloud.inventory.whynot import WhyNot, explain

LARGEST = 256
"""Machines of the largest cluster sold, a POD1024."""

SIZES = tuple(1 << power for power in range(LARGEST.bit_length()))
"""Possible numbers of machines of a cluster."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The machines of a new cluster, by the position of their pod and then by slot."""

    machine_ids: tuple[UUID, ...]
    pod_ids: tuple[UUID, ...]


def allocate(pods: Sequence[Pod], machines: int, ipus_per_machine: int = 4) -> Placement | WhyNot:
    """Place a cluster of `machines` (1, 2, 4, … 256) on free machines of the snapshot.

    `ipus_per_machine` is only for the sentences of a refusal.

    Raises ValueError when `machines` is not such a size, or when two pods have one position of a GW-Link group.
    """
    _check(machines)
    block = Fit(pods, usable(pods, SlotState.FREE)).best(machines)
    if block is None:
        return explain(pods, machines, ipus_per_machine)
    return Placement(
        tuple(machine for pod, mask in block for machine in pods[pod].machines_in(mask)),
        tuple(pods[pod].id for pod, _ in block),
    )


def capacity(pods: Sequence[Pod], machines: int) -> int:
    """How many clusters of `machines` could be created now, at the same time. Raises ValueError as `allocate` does."""
    _check(machines)
    return Fit(pods, usable(pods, SlotState.FREE)).count(machines)


def _check(machines: int) -> None:
    if machines not in SIZES:
        raise ValueError(f"a cluster has {SIZES[0]} to {LARGEST} machines, a power of two, not {machines}")
