"""Where a partition goes: aligned (buddy) blocks of free IPUs. Pure.

A partition of 2^k IPUs in a domain takes a block that starts at a multiple of 2^k. Of several it takes the one whose
surrounding free buddy is smallest, so that large blocks stay whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ipucloud.laboratory.simulator.hardware import DOMAIN_IPUS, IPUS_PER_MACHINE
from ipucloud.laboratory.simulator.refusal import invalid
from ipucloud.laboratory.simulator.vipu.model import Block
from ipucloud.laboratory.simulator.vipu.rules import is_power_of_two
from ipucloud.wire import vipu_pb2 as pb

FreeMasks = Mapping[int, int]
"""The free IPUs of every domain of a cluster."""


MASKS = {
    size: tuple((start, ((1 << size) - 1) << start) for start in range(0, DOMAIN_IPUS, size))
    for size in (1 << k for k in range(DOMAIN_IPUS.bit_length()))
}
"""The aligned blocks of every size: where each begins, and its IPUs."""

_ORDER = {
    size: tuple(sorted(blocks, key=lambda block: (block[0] // IPUS_PER_MACHINE, -block[0])))
    for size, blocks in MASKS.items()
}
"""In the order in which they are taken: within a machine the highest IPUs first, as the vendor's samples have it."""

Sound = Callable[[Block], bool]
"""Whether the links within a block work."""


def find_blocks(free: FreeMasks, size: int, segments: int, sound: Sound | None = None) -> list[Block] | None:
    """Blocks for `size` IPUs over `segments` neighbouring domains, or None when no such blocks are free."""
    count = size // segments
    if count > DOMAIN_IPUS:
        return None
    best = {domain: block for domain, mask in free.items() if (block := _best_block(domain, mask, count, sound))}
    if segments == 1:
        if len(best) == 1:
            return list(best.values())
        return [min(best.values(), key=lambda b: (_buddy(free[b.domain], b.start, b.size), b))] if best else None
    for first in sorted(best):
        run = range(first, first + segments)
        if all(domain in best for domain in run):
            return [best[domain] for domain in run]
    return None


def explicit_blocks(
    ipus: Sequence[pb.PartitionIpu], segments: int, chain: Sequence[int] = range(DOMAIN_IPUS)
) -> list[Block]:
    """The blocks that a list of IPUs forms. Refuses a list that is not one aligned block in each of its domains.

    `chain` has the places of IPUs by topology id.
    """
    places: dict[int, set[int]] = {}
    for ipu in ipus:
        if ipu.topology_id >= DOMAIN_IPUS:
            raise invalid(f"IPU {ipu.topology_id} does not exist: a domain has IPUs 0 to {DOMAIN_IPUS - 1}")
        domain = places.setdefault(ipu.ipulink_domain_topology_id, set())
        if chain[ipu.topology_id] in domain:
            raise invalid(f"IPU {ipu.topology_id} of domain {ipu.ipulink_domain_topology_id} is listed twice")
        domain.add(chain[ipu.topology_id])
    if len(places) != segments:
        raise invalid(f"the listed IPUs lie in {len(places)} IPU-Link domains, the partition has {segments}")
    blocks = [_aligned(domain, members) for domain, members in sorted(places.items())]
    if len({block.size for block in blocks}) > 1:
        raise invalid("the listed IPUs are not spread evenly over their IPU-Link domains")
    return blocks


def is_free(free: FreeMasks, blocks: Iterable[Block]) -> bool:
    """Whether every IPU of the blocks is free."""
    return all(free.get(block.domain, 0) & block.mask == block.mask for block in blocks)


def largest_free(free: FreeMasks) -> int:
    """The size of the largest aligned block that is free: what would fit in one domain."""
    sizes = (1 << k for k in range(DOMAIN_IPUS.bit_length() - 1, -1, -1))
    return next((size for size in sizes if find_blocks(free, size, 1)), 0)


def _aligned(domain: int, members: set[int]) -> Block:
    block = Block(domain, min(members), len(members))
    aligned = is_power_of_two(block.size) and block.start % block.size == 0
    if not aligned or max(members) != block.start + block.size - 1:
        raise invalid(f"the listed IPUs of domain {domain} do not form one aligned block")
    return block


def _best_block(domain: int, free: int, count: int, sound: Sound | None) -> Block | None:
    best, least = None, 2 * DOMAIN_IPUS
    for start, mask in _ORDER[count]:
        if free & mask == mask:
            buddy = _buddy(free, start, count)
            if buddy < least and (sound is None or sound(Block(domain, start, count))):
                best, least = start, buddy
                if buddy == count:
                    break
    return None if best is None else Block(domain, best, count)


def _buddy(free: int, start: int, size: int) -> int:
    """The size of the largest free aligned block that surrounds the one of this size at `start`."""
    while size < DOMAIN_IPUS:
        _, mask = MASKS[2 * size][start // (2 * size)]
        if free & mask != mask:
            return size
        size *= 2
    return size
