"""Which clusters to move so that a larger block of machines becomes free. Pure.

A search by cost, in machines that are moved: it begins with the clusters on each block that could become free, and adds
others until all of them fit elsewhere. Its first answer is the cheapest of all, because blocks and clusters are powers
of two: when the largest are placed first, each in the smallest free block that holds it, no other order places more.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ipucloud.inventory.allocator import Block, Fit
from ipucloud.inventory.snapshot import DOMAIN, RUN, Pod, aligned_starts, bits, span, tightest

SEARCHED = 2_000
"""Sets of clusters that are tried before the search gives up."""
KEPT = 100_000
"""Sets that may wait to be tried before the search gives up."""
_WHOLE = span(0, DOMAIN)

Masks: TypeAlias = list[int]
"""A mask of slots for each pod."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """A cluster that may be moved, and the block that it holds."""

    block: Block

    @property
    def machines(self) -> int:
        return sum(mask.bit_count() for _, mask in self.block)


@dataclass(frozen=True, slots=True)
class Move:
    """The tenant, by its index, goes to this block."""

    tenant: int
    to: Block


@dataclass(frozen=True, slots=True)
class Proposal:
    """The block that becomes free by these moves, in this order; without any it is free already."""

    target: Block
    moves: tuple[Move, ...]


@dataclass(order=True)
class _Try:
    """Tenants to move away from a target: those on it, and others that `added` ends with."""

    cost: int
    moves: int
    target: int
    added: tuple[int, ...]
    moved: frozenset[int] = field(compare=False)


def propose(pods: Sequence[Pod], free: Sequence[int], tenants: Sequence[Tenant], machines: int) -> Proposal | None:
    """The moves of the fewest machines after which a block of `machines` is free; None when there are none.

    `free` has each pod's free slots. Slots that are neither free nor a tenant's stay as they are. Raises
    SearchTooLong after `SEARCHED` tries, or when more than `KEPT` wait.
    """
    if sum(mask.bit_count() for mask in free) < machines:  # moves make no machine free
        return None
    movable = [*free]
    holders: list[list[tuple[int, int]]] = [[] for _ in pods]
    for index, tenant in enumerate(tenants):
        for pod, mask in tenant.block:
            movable[pod] |= mask
            holders[pod].append((index, mask))
    targets = list(Fit(pods, movable).blocks(machines))
    tries = [_first(number, target, tenants, holders) for number, target in enumerate(targets)]
    heapq.heapify(tries)
    for _ in range(SEARCHED):
        if not tries:
            return None
        attempt = heapq.heappop(tries)
        moves = _moves(pods, free, tenants, attempt.moved, targets[attempt.target])
        if moves is not None:
            return Proposal(targets[attempt.target], moves)
        for larger in _larger(attempt, tenants):
            heapq.heappush(tries, larger)
        if len(tries) > KEPT:
            break
    raise SearchTooLong


class SearchTooLong(Exception):
    """So many sets of clusters were tried that none is left to hope for: too much would have to be moved."""


def _first(number: int, target: Block, tenants: Sequence[Tenant], holders: Sequence[Sequence[tuple[int, int]]]) -> _Try:
    """`holders`: for each pod, the tenants that hold some of it, by index, with what they hold."""
    moved = frozenset(index for pod, mask in target for index, held in holders[pod] if mask & held)
    return _Try(sum(tenants[index].machines for index in moved), len(moved), number, (), moved)


def _larger(attempt: _Try, tenants: Sequence[Tenant]) -> Iterator[_Try]:
    """One more tenant, smaller than the largest that is moved: an equal one would need what it gives."""
    largest = max((tenants[index].machines for index in attempt.moved), default=0)
    after = attempt.added[-1] if attempt.added else -1
    for index, tenant in enumerate(tenants):
        if index > after and index not in attempt.moved and tenant.machines < largest:
            yield _Try(
                attempt.cost + tenant.machines,
                attempt.moves + 1,
                attempt.target,
                (*attempt.added, index),
                attempt.moved | {index},
            )


def _moves(
    pods: Sequence[Pod], free: Sequence[int], tenants: Sequence[Tenant], moved: frozenset[int], target: Block
) -> tuple[Move, ...] | None:
    """Where the tenants go, in an order in which each place is free when it is needed; None: they do not all fit."""
    room = [*free]
    for index in moved:
        _release(room, tenants[index].block)
    _allocate(room, target)
    moves = []
    for index in sorted(moved, key=lambda each: (-tenants[each].machines, each)):
        place = _place(pods, room, tenants[index].machines)
        if place is None:
            return None
        _allocate(room, place)
        moves.append(Move(index, place))
    return _in_order(free, tenants, target, moves)


def _in_order(
    free: Sequence[int], tenants: Sequence[Tenant], target: Block, moves: list[Move]
) -> tuple[Move, ...] | None:
    """None when two tenants would have to change places."""
    now, ordered = [*free], []
    _allocate(now, target)
    while moves:
        possible = next((move for move in moves if all(now[pod] & mask == mask for pod, mask in move.to)), None)
        if possible is None:
            return None
        _allocate(now, possible.to)
        _release(now, tenants[possible.tenant].block)
        _allocate(now, target)
        moves.remove(possible)
        ordered.append(possible)
    return tuple(ordered)


def _place(pods: Sequence[Pod], room: Masks, machines: int) -> Block | None:
    """The block that splits the smallest free one."""
    if machines > DOMAIN:
        return _run(pods, room, machines // DOMAIN)
    places = [(around, pod) for pod, mask in enumerate(room) if (around := _around(mask, machines))]
    if not places:
        return None
    _, pod = min(places)
    return ((pod, tightest(room[pod], machines)),)


def _run(pods: Sequence[Pod], room: Masks, domains: int) -> Block | None:
    """Whole neighbouring pods of one run."""
    runs: defaultdict[tuple[str, int], dict[int, int]] = defaultdict(dict)
    for index, pod in enumerate(pods):
        if room[index] == _WHOLE:
            runs[pod.gw_group, pod.position // RUN][pod.position % RUN] = index
    candidates = []
    for key, places in runs.items():
        whole = sum(1 << place for place in places)
        if around := _around(whole, domains):
            candidates.append((around, key, tightest(whole, domains)))
    if not candidates:
        return None
    _, key, chosen = min(candidates)
    return tuple((runs[key][place], _WHOLE) for place in bits(chosen))


def _around(mask: int, size: int) -> int:
    """The size of the smallest free aligned block that holds one of `size`; 0: there is none."""
    around, starts = size, aligned_starts(mask, size, DOMAIN)
    while starts:
        larger = aligned_starts(mask, 2 * around, DOMAIN) if around < DOMAIN else 0
        if starts & ~(larger | larger << around):
            return around
        starts, around = larger, 2 * around
    return 0


def _release(room: Masks, block: Block) -> None:
    for pod, mask in block:
        room[pod] |= mask


def _allocate(room: Masks, block: Block) -> None:
    for pod, mask in block:
        room[pod] &= ~mask
