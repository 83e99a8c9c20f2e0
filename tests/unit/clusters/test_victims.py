"""Which preemptible clusters have to stop: the fewest machines, against every other set of clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.clusters.preemption.victims import Candidate, choose_victims
from ipucloud.inventory.allocator import Fit
from ipucloud.inventory.snapshot import DOMAIN, Pod, span

BEGAN = datetime(2026, 5, 4, tzinfo=UTC)
PODS = 2


def pods(count: int = PODS) -> list[Pod]:
    return [Pod("g", position) for position in range(count)]


def candidate(held: dict[int, int], *, minutes: int = 0, noticed: bool = False, key: str = "a") -> Candidate:
    return Candidate(held, BEGAN + timedelta(minutes=minutes), noticed, key)


def fits(usable: Sequence[int], chosen: Sequence[Candidate], machines: int) -> bool:
    masks = [*usable]
    for each in chosen:
        for pod, mask in each.held.items():
            masks[pod] |= mask
    return next(Fit(pods(len(usable)), masks).blocks(machines), None) is not None


@st.composite
def regions(draw: st.DrawFn) -> tuple[list[int], list[Candidate]]:
    """Two pods, cut into aligned blocks of which some are free, some preemptible, and the others neither."""
    usable, candidates = [0] * PODS, []
    for pod in range(PODS):
        start = 0
        while start < DOMAIN:
            sizes = [size for size in (1, 2, 4, 8, 16) if start % size == 0]
            size = draw(st.sampled_from(sizes))
            what = draw(st.sampled_from(["free", "preemptible", "preemptible", "other"]))
            if what == "free":
                usable[pod] |= span(start, size)
            elif what == "preemptible":
                name = f"{pod}-{start}"
                minutes, noticed = draw(st.integers(0, 3)), draw(st.booleans())
                candidates.append(candidate({pod: span(start, size)}, minutes=minutes, noticed=noticed, key=name))
            start += size
    return usable, candidates


def sufficient(usable: Sequence[int], candidates: Sequence[Candidate], machines: int) -> Iterator[frozenset[int]]:
    for number in range(min(len(candidates), 4) + 1):
        for chosen in combinations(range(len(candidates)), number):
            if fits(usable, [candidates[index] for index in chosen], machines):
                yield frozenset(chosen)


@settings(max_examples=150, deadline=None)
@given(regions(), st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_no_other_choice_takes_fewer_machines(region: tuple[list[int], list[Candidate]], machines: int) -> None:
    usable, candidates = region
    chosen = choose_victims(pods(), usable, candidates, machines)
    if chosen is None:
        assert not fits(usable, candidates, machines)
        return
    assert fits(usable, [candidates[index] for index in chosen], machines)
    machines_taken = sum(candidates[index].machines for index in chosen)
    for other in sufficient(usable, candidates, machines):
        assert machines_taken <= sum(candidates[index].machines for index in other)
        assert not other < chosen, "each of them is needed"


@given(regions(), st.sampled_from([2, 4, 8]))
def test_the_order_of_the_clusters_does_not_matter(region: tuple[list[int], list[Candidate]], machines: int) -> None:
    usable, candidates = region
    shuffled = sorted(candidates, key=lambda each: each.key[::-1])

    def keys(of: list[Candidate]) -> list[str] | None:
        chosen = choose_victims(pods(), usable, of, machines)
        return None if chosen is None else sorted(of[index].key for index in chosen)

    assert keys(candidates) == keys(shuffled)


def test_of_equal_ones_who_was_told_already_stops_and_else_who_ran_for_the_shortest_time() -> None:
    old = candidate({0: span(0, 4)}, minutes=0, key="old")
    young = candidate({0: span(4, 4)}, minutes=9, key="young")
    assert choose_victims(pods(1), [0], [old, young], 4) == frozenset({1})
    notified = candidate({0: span(0, 4)}, minutes=0, noticed=True, key="old")
    assert choose_victims(pods(1), [0], [notified, young], 4) == frozenset({0})


def test_a_small_one_stops_before_a_large_one_even_if_that_was_told() -> None:
    large = candidate({0: span(0, 8)}, noticed=True, key="large")
    small = candidate({0: span(8, 4)}, key="small")
    assert choose_victims(pods(1), [0], [large, small], 4) == frozenset({1})


def test_a_cluster_of_several_pods_gives_all_of_them() -> None:
    whole = candidate({0: 0xFFFF, 1: 0xFFFF}, key="whole")
    assert choose_victims(pods(), [0, 0], [whole], 32) == frozenset({0})
    assert choose_victims(pods(), [0, 0], [whole], 64) is None
