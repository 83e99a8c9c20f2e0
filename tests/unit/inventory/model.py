"""What the database chooses, and what the allocator before it chose, over pods in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ipucloud.inventory.allocator import SIZES, choose
from ipucloud.inventory.snapshot import DOMAIN, RUN, Pod, bits, span

Places = tuple[tuple[int, int], ...]
"""(pod's index, slot) of each machine of a block."""

WHOLE = span(0, DOMAIN)


def largest(mask: int) -> int:
    """The size of the largest aligned block of set bits, of 16."""
    blocks = ((size, span(start, size)) for size in (16, 8, 4, 2, 1) for start in range(0, 16, size))
    return next((size for size, block in blocks if mask & block == block), 0)


def best_fit(pods: Sequence[Pod], machines: int) -> Places | None:
    """What `lock_room` and `choose` take: of the pod, then of the run, with the smallest largest free block."""
    by_room = [(largest(pod.free_mask), pod.gw_group, pod.position, i) for i, pod in enumerate(pods)]
    partly = [each for each in by_room if machines <= each[0] < DOMAIN]
    if partly:
        index = min(partly)[-1]
        slots, _ = choose(pods[index].free_mask, machines, whole=False)
        return tuple((index, slot) for slot in bits(slots))
    runs: dict[tuple[str, int], int] = {}
    for pod in pods:
        if pod.free_mask == WHOLE:
            run = pod.gw_group, pod.position // RUN
            runs[run] = runs.get(run, 0) | 1 << pod.position % RUN
    fitting = [(largest(mask), run, mask) for run, mask in runs.items() if largest(mask) >= max(machines // DOMAIN, 1)]
    if not fitting:
        return None
    _, (group, number), mask = min(fitting)
    slots, places = choose(mask, machines, whole=True)
    index_of = {(pod.gw_group, pod.position): index for index, pod in enumerate(pods)}
    return tuple((index_of[group, number * RUN + place], slot) for place in bits(places) for slot in bits(slots))


def candidates(pods: Sequence[Pod], machines: int) -> Iterator[Places]:
    """Every aligned block of that size, whatever its machines' states, in order of pod and slot."""
    if machines <= DOMAIN:
        for index in range(len(pods)):
            for start in range(0, DOMAIN, machines):
                yield tuple((index, slot) for slot in range(start, start + machines))
        return
    domains = machines // DOMAIN
    index_of = {(pod.gw_group, pod.position): index for index, pod in enumerate(pods)}
    for pod in pods:
        run = [(pod.gw_group, pod.position + step) for step in range(domains)]
        if pod.position % domains == 0 and all(where in index_of for where in run):
            yield tuple((index_of[where], slot) for where in run for slot in range(DOMAIN))


def smallest_enclosing(pods: Sequence[Pod], machines: int) -> Places | None:
    """The rule of the allocator that read whole regions: the block inside the smallest largest free block."""
    free = {(index, slot) for index, pod in enumerate(pods) for slot in bits(pod.free_mask)}
    around = [(size, set(block)) for size in SIZES for block in candidates(pods, size) if free.issuperset(block)]
    fitting = [block for block in candidates(pods, machines) if free.issuperset(block)]
    return min(fitting, key=lambda block: max(size for size, outer in around if outer.issuperset(block)), default=None)


def allocated(pods: Sequence[Pod], block: Places) -> list[Pod]:
    """The pods after the block was taken."""
    return _moved(pods, block, allocate=True)


def freed(pods: Sequence[Pod], block: Places) -> list[Pod]:
    """The pods after the block was returned."""
    return _moved(pods, block, allocate=False)


def _moved(pods: Sequence[Pod], block: Places, *, allocate: bool) -> list[Pod]:
    changed = list(pods)
    for index, slot in block:
        pod, bit = changed[index], 1 << slot
        if allocate:
            changed[index] = pod._replace(free_mask=pod.free_mask & ~bit, allocated_mask=pod.allocated_mask | bit)
        else:
            changed[index] = pod._replace(free_mask=pod.free_mask | bit, allocated_mask=pod.allocated_mask & ~bit)
    return changed
