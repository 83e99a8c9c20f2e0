"""Room, choices and reasons against a brute-force oracle that knows sets of machines and nothing of bit masks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.inventory.allocator import SIZES, capacity, choose
from ipucloud.inventory.snapshot import DOMAIN, Pod, SlotState, bits
from ipucloud.inventory.whynot import Reason, WhyNot, explain
from tests.unit.inventory.model import Places, allocated, best_fit, candidates

S = SlotState
Pods = list[Pod]

LETTERS = {"f": S.FREE, "a": S.ALLOCATED, "c": S.CLEANING, "u": S.UNHEALTHY, "m": S.MAINTENANCE}


def pod(slots: str, *, group: str = "g", position: int = 0) -> Pod:
    """A pod from a picture: one letter for each slot (`f`ree, `a`llocated, …), `.` where no machine is."""
    masks = dict.fromkeys(S, 0)
    for slot, letter in enumerate(slots):
        if letter != ".":
            masks[LETTERS[letter]] |= 1 << slot
    return Pod(group, position, *masks.values())


# The oracle -------------------------------------------------------------------------------------------------------


def in_states(pods: Pods, *states: SlotState) -> set[tuple[int, int]]:
    """The machines in one of the states, as (pod's index, slot)."""
    return {(index, slot) for index, view in enumerate(pods) for state in states for slot in bits(view.mask(state))}


def fitting(pods: Pods, machines: int, states: Sequence[SlotState]) -> list[Places]:
    good = in_states(pods, *states)
    return [block for block in candidates(pods, machines) if good.issuperset(block)]


def count(pods: Pods, *states: SlotState) -> int:
    return len(in_states(pods, *states))


def oracle_missing(pods: Pods, machines: int, *states: SlotState) -> int | None:
    """The fewest machines that are not free in any block of machines in these states."""
    free = in_states(pods, S.FREE)
    return min((len(set(block) - free) for block in fitting(pods, machines, states)), default=None)


def oracle_reason(pods: Pods, machines: int) -> tuple[Reason, int]:
    """For a cluster that does not fit: the reason, and how many machines are missing."""
    soon = (S.FREE, S.CLEANING)
    if not fitting(pods, machines, list(S)) or count(pods, *soon, S.UNHEALTHY, S.MAINTENANCE) < machines:
        return Reason.CAPACITY, 0
    crowded = Reason.FRAGMENTATION if count(pods, S.FREE) >= machines else Reason.CAPACITY
    for reason, states in (
        (crowded, soon),
        (Reason.HEALTH, (*soon, S.UNHEALTHY)),
        (Reason.MAINTENANCE, (*soon, S.MAINTENANCE)),
        (Reason.HEALTH, (*soon, S.UNHEALTHY, S.MAINTENANCE)),
    ):
        if missing := oracle_missing(pods, machines, *states):
            return reason, missing
    return (Reason.FRAGMENTATION if count(pods, *soon) >= machines else Reason.CAPACITY), 0


# Snapshots --------------------------------------------------------------------------------------------------------

mixed = st.text("ffffacum", min_size=16, max_size=16)
nearly_free = st.tuples(st.integers(0, 15), st.sampled_from("acum")).map(
    lambda hole: "f" * hole[0] + hole[1] + "f" * (15 - hole[0])
)
quarters = st.lists(st.sampled_from(["ffff", "aaaa", "ffaa", "cccc", "uuuu"]), min_size=4, max_size=4).map("".join)
small = st.text("ffac", min_size=1, max_size=8)
gappy = st.text("ff.a", min_size=16, max_size=16)
pictures = st.one_of(st.just("f" * 16), st.just("f" * 16), mixed, nearly_free, quarters, small, gappy)


@st.composite
def snapshots(draw: st.DrawFn) -> Pods:
    places = draw(st.lists(st.tuples(st.sampled_from("gh"), st.integers(0, 9)), min_size=0, max_size=8, unique=True))
    return [pod(draw(pictures), group=group, position=position) for group, position in places]


sizes = st.sampled_from(SIZES)


@given(snapshots(), sizes)
def test_what_is_chosen_is_a_free_block_if_there_is_one(pods: Pods, machines: int) -> None:
    block = best_fit(pods, machines)
    assert block in fitting(pods, machines, [S.FREE]) or (block is None and capacity(pods, machines) == 0)


@given(snapshots(), sizes)
def test_the_reason_is_the_oracle_s(pods: Pods, machines: int) -> None:
    if capacity(pods, machines):
        return
    numbers = (answer := explain(pods, machines)).numbers
    assert (answer.reason, numbers.missing) == oracle_reason(pods, machines)
    assert numbers.wanted == machines
    assert (numbers.free, numbers.cleaning) == (count(pods, S.FREE), count(pods, S.CLEANING))
    assert (numbers.unhealthy, numbers.maintenance) == (count(pods, S.UNHEALTHY), count(pods, S.MAINTENANCE))
    fits = [size for size in SIZES if fitting(pods, size, [S.FREE])]
    assert numbers.largest == max(fits, default=0)


@given(st.lists(pictures, min_size=1, max_size=3).flatmap(lambda some: st.lists(st.sampled_from(some), max_size=9)))
def test_pods_that_are_alike_may_be_counted_together(slots: list[str]) -> None:
    apart = [pod(each, position=position) for position, each in enumerate(slots)]
    together = [pod(each)._replace(alike=times) for each, times in Counter(slots).items()]
    for machines in (size for size in SIZES if size <= DOMAIN):
        assert capacity(together, machines) == capacity(apart, machines)
        if not capacity(apart, machines):
            assert explain(together, machines) == explain(apart, machines)


@given(snapshots(), sizes)
def test_capacity_is_how_many_can_be_created_one_after_the_other(pods: Pods, machines: int) -> None:
    created, remaining = 0, pods
    while block := best_fit(remaining, machines):
        created, remaining = created + 1, allocated(remaining, block)
    assert capacity(pods, machines) == created


# Examples ---------------------------------------------------------------------------------------------------------


def refused(pods: Pods, machines: int) -> WhyNot:
    assert capacity(pods, machines) == 0
    return explain(pods, machines)


@pytest.mark.parametrize(
    ("free", "machines", "slots"),
    [
        (0b1100_0000_1111_0000, 2, 0b1100_0000_0000_0000),
        (0b1100_0000_1111_0000, 4, 0b0000_0000_1111_0000),
        (0b1111_1111_0001_0000, 1, 0b0000_0000_0001_0000),
        (0b0000_0110_1111_1111, 1, 0b0000_0010_0000_0000),
    ],
)
def test_a_pods_smallest_sufficient_block_is_taken(free: int, machines: int, slots: int) -> None:
    assert choose(free, machines, whole=False) == (slots, 0)


@pytest.mark.parametrize(
    ("whole", "machines", "slots", "places"),
    [
        (0b1011, 2, 0b11, 0b1000),
        (0b1011, 16, 0xFFFF, 0b1000),
        (0b1011, 32, 0xFFFF, 0b11),
        (0xFFFF, 256, 0xFFFF, 0xFFFF),
    ],
)
def test_whole_pods_are_taken_where_a_run_is_broken_least(whole: int, machines: int, slots: int, places: int) -> None:
    assert choose(whole, machines, whole=True) == (slots, places)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="no aligned block of 4"):
        choose(0b0111_1110, 4, whole=False)
    assert refused([], 1).reason is Reason.CAPACITY
    assert capacity([], 1) == 0
    with pytest.raises(ValueError, match="two pods are at position"):
        capacity([pod("f" * 16, position=0), pod("f" * 16, position=0)], 32)


def test_a_run_is_aligned_does_not_wrap_and_stays_in_its_group() -> None:
    unaligned = [pod("f" * 16, position=1), pod("f" * 16, position=2)]
    ring_ends = [pod("f" * 16, position=0), pod("f" * 16, position=3)]
    foreign = [pod("f" * 16, position=0), pod("f" * 16, group="h", position=1)]
    for pods in (unaligned, ring_ends, foreign):
        assert refused(pods, 32).reason is Reason.CAPACITY
        assert "no 2 neighbouring IPU-Link domains" in refused(pods, 32).detail


def test_capacity_is_the_reason_when_everything_is_taken() -> None:
    answer = refused([pod("a" * 14 + "fu")], 4)
    assert answer.reason is Reason.CAPACITY
    assert "takes 4 machines (16 IPUs); the region has 1 free" in answer.detail
    assert "largest cluster that fits now has 1 machine (4 IPUs)" in answer.detail


def test_machines_being_cleaned_are_a_matter_of_waiting() -> None:
    answer = refused([pod("a" * 12 + "ffcc")], 4)
    assert answer.reason is Reason.CAPACITY
    assert "still being cleaned: 2" in answer.detail
    assert answer.numbers.missing == 2


def test_fragmentation_is_the_reason_when_free_machines_lie_apart() -> None:
    answer = refused([pod("fa" * 8)], 2)
    assert answer.reason is Reason.FRAGMENTATION
    assert answer.numbers.free == 8
    assert answer.numbers.largest == 1
    assert "has 8 free, but nowhere 2 machines (8 IPUs) side by side" in answer.detail


@pytest.mark.parametrize(
    ("picture", "reason", "missing", "words"),
    [
        ("a" * 12 + "ffuu", Reason.HEALTH, 2, "at least 2 unhealthy)"),
        ("a" * 12 + "fffm", Reason.MAINTENANCE, 1, "at least 1 in maintenance"),
        ("a" * 12 + "ffum", Reason.HEALTH, 2, "at least 2 unhealthy or in maintenance"),
        ("fffu" + "a" * 8 + "fffm", Reason.HEALTH, 1, "at least 1 unhealthy"),
    ],
)
def test_broken_machines_are_the_reason_when_repairing_them_would_do(
    picture: str, reason: Reason, missing: int, words: str
) -> None:
    answer = refused([pod(picture)], 4)
    assert (answer.reason, answer.numbers.missing) == (reason, missing)
    assert words in answer.detail


@pytest.mark.parametrize("machines", [0, -1, 3, 12, 48, 512])
def test_only_sizes_that_are_sold_are_placed(machines: int) -> None:
    with pytest.raises(ValueError, match="power of two"):
        choose(0xFFFF, machines, whole=True)
    with pytest.raises(ValueError, match="power of two"):
        capacity([], machines)
