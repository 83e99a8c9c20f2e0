"""The proposed moves are the cheapest of all, as an exhaustive search of small cases says, and can be carried out."""

from __future__ import annotations

import random
from itertools import product

import pytest

from ipucloud.inventory import defragment
from ipucloud.inventory.defragment import Proposal, SearchTooLong, Tenant, propose
from ipucloud.inventory.snapshot import DOMAIN, Pod, aligned_starts, bits, span
from tests.support.cases import all_cases

WHOLE = span(0, DOMAIN)


def pods(count: int) -> list[Pod]:
    return [Pod("g0", position) for position in range(count)]


def cost(proposal: Proposal, tenants: list[Tenant]) -> int:
    return sum(tenants[move.tenant].machines for move in proposal.moves)


def carried_out(free: list[int], tenants: list[Tenant], proposal: Proposal) -> list[int]:
    """The free slots after the moves, each of which needs its place free."""
    now = [*free]
    for move in proposal.moves:
        for pod, mask in move.to:
            assert now[pod] & mask == mask
            now[pod] &= ~mask
        for pod, mask in tenants[move.tenant].block:
            now[pod] |= mask
    return now


def blocks(allowed: list[int], size: int) -> list[tuple[int, int]]:
    return [
        (pod, span(start, size))
        for pod, mask in enumerate(allowed)
        for start in bits(aligned_starts(mask, size, DOMAIN))
    ]


def cheapest(free: list[int], tenants: list[Tenant], machines: int) -> int | None:
    """Over every place that every tenant could have."""
    allowed = [*free]
    for tenant in tenants:
        for pod, mask in tenant.block:
            allowed[pod] |= mask
    costs: list[int] = []
    for places in product(*(blocks(allowed, tenant.machines) for tenant in tenants)):
        free_masks = [*allowed]
        for pod, mask in places:
            if free_masks[pod] & mask != mask:
                break
            free_masks[pod] &= ~mask
        else:
            if any(aligned_starts(mask, machines, DOMAIN) for mask in free_masks):
                moved = (each.machines for each, place in zip(tenants, places, strict=True) if each.block != (place,))
                costs.append(sum(moved))
    return min(costs, default=None)


def a_case(draw: random.Random) -> tuple[list[int], list[Tenant], int]:
    """Two pods of four usable slots, some of them broken, with clusters wherever there was room for one."""
    free = [span(0, 4) & ~draw.choice([0, 0, 1, 2, 8]) for _ in range(2)]
    tenants = []
    for _ in range(draw.randint(1, 5)):
        places = blocks(free, draw.choice([1, 1, 1, 2, 2]))
        if places:
            pod, mask = draw.choice(places)
            free[pod] &= ~mask
            tenants.append(Tenant(((pod, mask),)))
    return free, tenants, draw.choice([2, 4])


def test_the_moves_are_the_cheapest_of_all() -> None:
    with all_cases() as case:
        for seed in range(400):
            free, tenants, machines = a_case(random.Random(seed))  # noqa: S311  # not a secret
            with case(f"seed {seed}"):
                proposal = propose(pods(2), free, tenants, machines)
                assert (None if proposal is None else cost(proposal, tenants)) == cheapest(free, tenants, machines)
                if proposal is not None:
                    after = carried_out(free, tenants, proposal)
                    assert all(after[pod] & mask == mask for pod, mask in proposal.target)


def test_what_is_free_already_needs_no_move() -> None:
    assert propose(pods(1), [WHOLE], [], 16) == Proposal(((0, WHOLE),), ())


def test_whole_pods_are_emptied_for_a_cluster_of_several() -> None:
    """Four pods, of which two that are no neighbours have one small cluster each."""
    tenants = [Tenant(((1, 1),)), Tenant(((2, 1),))]
    free = [WHOLE, WHOLE & ~1, WHOLE & ~1, WHOLE]
    proposal = propose(pods(4), free, tenants, 32)
    assert proposal is not None
    assert [pod for pod, _ in proposal.target] in ([0, 1], [2, 3])
    assert cost(proposal, tenants) == 1


def test_a_cluster_of_several_pods_moves_as_a_whole() -> None:
    tenants = [Tenant(((0, WHOLE), (1, WHOLE))), Tenant(((2, 3),))]
    free = [0, 0, WHOLE & ~3, WHOLE, WHOLE, WHOLE, WHOLE]
    proposal = propose(pods(7), free, tenants, 64)
    assert proposal is not None
    assert [pod for pod, _ in proposal.target] == [0, 1, 2, 3]
    assert {pod for move in proposal.moves if move.tenant == 0 for pod, _ in move.to} == {4, 5}
    assert propose(pods(6), free[:6], tenants, 64) is None


def test_a_search_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defragment, "SEARCHED", 1)
    tenants = [Tenant(((0, 3),)), Tenant(((1, 1),)), Tenant(((1, 4),))]
    with pytest.raises(SearchTooLong):
        propose(pods(2), [span(2, 2), 2 | 8], tenants, 4)
