"""How well clusters are packed, against the allocator that read whole regions and against the best that is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache

from ipucloud.inventory.snapshot import Pod
from tests.unit.inventory.model import Places, best_fit, candidates, smallest_enclosing

Rule = Callable[[Sequence[Pod], int], Places | None]
State = frozenset[tuple[int, int, int]]
"""The clusters of a region: pod, first slot, machines."""

PODS = 2
SLOTS = 4
SIZES = (1, 2, 4)
EVENTS = 7


def pods(state: State) -> list[Pod]:
    """Two pods of four machines."""
    masks = [(1 << SLOTS) - 1] * PODS
    for pod, start, size in state:
        masks[pod] &= ~(((1 << size) - 1) << start)
    return [Pod("g", position, mask) for position, mask in enumerate(masks)]


def places(state: State, size: int) -> Iterator[tuple[int, int, int]]:
    """Wherever such a cluster fits."""
    region = pods(state)
    for block in candidates(region, size):
        if all(region[pod].free_mask >> slot & 1 for pod, slot in block):
            yield (*block[0], size)


def refused(rule: Rule | None) -> Fraction:
    """How many machines are refused in `EVENTS` events, on average over every sequence; by the best rule for None.

    Each event is with equal probability a request of one of the sizes or the end of one of the clusters.
    """

    @cache
    def from_here(state: State, events_left: int) -> Fraction:
        if events_left == 0:
            return Fraction(0)
        outcomes = [from_here(state - {cluster}, events_left - 1) for cluster in state]
        for size in SIZES:
            fitting = list(places(state, size))
            if not fitting:
                outcomes.append(size + from_here(state, events_left - 1))
            elif rule is None:
                outcomes.append(min(from_here(state | {place}, events_left - 1) for place in fitting))
            else:
                block = rule(pods(state), size)
                assert block is not None
                outcomes.append(from_here(state | {(*block[0], size)}, events_left - 1))
        return sum(outcomes, Fraction(0)) / len(outcomes)

    return from_here(frozenset(), EVENTS)


def test_the_best_fit_packs_small_regions_as_well_as_is_possible_but_for_a_thousandth() -> None:
    optimum, chosen, before = refused(None), refused(best_fit), refused(smallest_enclosing)
    assert optimum <= chosen <= optimum * Fraction(1001, 1000)
    assert chosen <= before * Fraction(1001, 1000)
