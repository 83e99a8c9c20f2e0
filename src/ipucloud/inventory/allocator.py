"""Which machines a new cluster gets, of those whose row is locked; and how many clusters fit. Pure.

Up to 16 machines come from one IPU-Link domain as an aligned block; more come as whole neighbouring domains, an aligned
run of consecutive positions of one GW-Link group. A run does not wrap around a ring's end: buddy alignment already
pairs every position once, and a wrapped run would break two aligned ones.

A cluster goes to the pod whose largest free block is smallest, and there into the smallest free block that holds it, so
that large free blocks stay whole. Whole pods are the last choice, of the run whose largest free run is smallest.
"""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.inventory.blocks import DOMAIN, span, tightest
from ipucloud.inventory.fit import Fit
from ipucloud.inventory.snapshot import Pod, SlotState, usable

LARGEST = 256
"""Machines of the largest cluster sold, a POD1024: 16 pods, which one run holds."""

SIZES = tuple(1 << power for power in range(LARGEST.bit_length()))
"""Possible numbers of machines of a cluster."""


def choose(mask: int, machines: int, *, whole: bool) -> tuple[int, int]:
    """The slots to take in each pod, and the pods to take in the run: 0 when `mask` is of a pod's free slots.

    `whole`: the mask is of the wholly free pods of a run. Raises ValueError when `machines` do not fit, or are not a
    size that is sold.
    """
    _check(machines)
    if not whole:
        return tightest(mask, machines), 0
    return span(0, min(machines, DOMAIN)), tightest(mask, max(machines // DOMAIN, 1))


def capacity(pods: Sequence[Pod], machines: int) -> int:
    """How many clusters of `machines` (1, 2, 4, … 256) could be created now, at the same time.

    Raises ValueError when `machines` is not such a size, or when two pods have one position of a GW-Link group.
    """
    _check(machines)
    return Fit(pods, usable(pods, SlotState.FREE)).count(machines)


def _check(machines: int) -> None:
    if machines not in SIZES:
        raise ValueError(f"a cluster has {SIZES[0]} to {LARGEST} machines, a power of two, not {machines}")
