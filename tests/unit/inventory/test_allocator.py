"""The allocator against a brute-force oracle that knows sets of machines and nothing of bit masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipucloud.inventory.allocator import SIZES, Placement, allocate, capacity
from ipucloud.inventory.snapshot import PackedPod, PodView, SlotState, SlotView
from ipucloud.inventory.whynot import Reason, WhyNot

S = SlotState
Pods = list[PodView]
Places = tuple[tuple[int, int], ...]
"""(pod's index, slot) of each machine of a block."""

LETTERS = {"f": S.FREE, "a": S.ALLOCATED, "c": S.CLEANING, "u": S.UNHEALTHY, "m": S.MAINTENANCE}


def pod(number: int, slots: str, *, group: str = "g", position: int | None = None) -> PodView:
    """A pod from a picture: one letter for each slot (`f`ree, `a`llocated, …), `.` where no machine is."""
    views = [
        SlotView(UUID(int=100 * number + place), place, LETTERS[letter])
        for place, letter in enumerate(slots)
        if letter != "."
    ]
    return PodView(UUID(int=number), group, number if position is None else position, tuple(views))


def machine(number: int, place: int) -> UUID:
    return UUID(int=100 * number + place)


# The oracle -------------------------------------------------------------------------------------------------------


def candidates(pods: Pods, machines: int) -> Iterator[Places]:
    """Every aligned block of that size, whatever its machines' states, in order of pod and slot."""
    if machines <= 16:
        for index in range(len(pods)):
            for start in range(0, 16, machines):
                yield tuple((index, place) for place in range(start, start + machines))
        return
    domains = machines // 16
    index_of = {(view.gw_group, view.position): index for index, view in enumerate(pods)}
    for view in pods:
        run = [(view.gw_group, view.position + step) for step in range(domains)]
        if view.position % domains == 0 and all(where in index_of for where in run):
            yield tuple((index_of[where], place) for where in run for place in range(16))


def fitting(pods: Pods, machines: int, states: Sequence[SlotState]) -> list[Places]:
    good = {(i, slot.slot) for i, view in enumerate(pods) for slot in view.slots if slot.state in states}
    return [block for block in candidates(pods, machines) if good.issuperset(block)]


def oracle_best(pods: Pods, machines: int) -> Places | None:
    """The block inside the smallest largest free block; the first of equals."""
    around = [(size, set(block)) for size in (*SIZES, 512, 1024) for block in fitting(pods, size, [S.FREE])]

    def enclosing(block: Places) -> int:
        return max(size for size, larger in around if larger.issuperset(block))

    return min(fitting(pods, machines, [S.FREE]), key=enclosing, default=None)


def count(pods: Pods, *states: SlotState) -> int:
    return sum(slot.state in states for view in pods for slot in view.slots)


def oracle_missing(pods: Pods, machines: int, *states: SlotState) -> int | None:
    """The fewest machines that are not free in any block of machines in these states."""
    free = {(i, slot.slot) for i, view in enumerate(pods) for slot in view.slots if slot.state is S.FREE}
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
    return [
        pod(number, draw(pictures), group=group, position=position)
        for number, (group, position) in enumerate(places, start=1)
    ]


sizes = st.sampled_from(SIZES)


def ids(pods: Pods, block: Places) -> tuple[UUID, ...]:
    by_place = {(i, slot.slot): slot.machine_id for i, view in enumerate(pods) for slot in view.slots}
    return tuple(by_place[place] for place in block)


@given(snapshots(), sizes)
def test_the_placement_is_the_oracle_s(pods: Pods, machines: int) -> None:
    expected = oracle_best(pods, machines)
    answer = allocate(pods, machines)
    if expected is None:
        assert isinstance(answer, WhyNot)
    else:
        assert isinstance(answer, Placement)
        assert answer.machine_ids == ids(pods, expected)


@given(snapshots(), sizes)
def test_the_reason_is_the_oracle_s(pods: Pods, machines: int) -> None:
    answer = allocate(pods, machines)
    if isinstance(answer, Placement):
        return
    numbers = answer.numbers
    assert (answer.reason, numbers.missing) == oracle_reason(pods, machines)
    assert numbers.wanted == machines
    assert (numbers.free, numbers.cleaning) == (count(pods, S.FREE), count(pods, S.CLEANING))
    assert (numbers.unhealthy, numbers.maintenance) == (count(pods, S.UNHEALTHY), count(pods, S.MAINTENANCE))
    fits = [size for size in SIZES if fitting(pods, size, [S.FREE])]
    assert numbers.largest == max(fits, default=0)


def allocated(pods: Pods, taken: Placement) -> Pods:
    gone = set(taken.machine_ids)
    return [
        replace(
            view,
            slots=tuple(replace(slot, state=S.ALLOCATED) if slot.machine_id in gone else slot for slot in view.slots),
        )
        for view in pods
    ]


@given(snapshots(), sizes)
def test_capacity_is_how_many_can_be_created_one_after_the_other(pods: Pods, machines: int) -> None:
    created, left = 0, pods
    while isinstance(taken := allocate(left, machines), Placement):
        created, left = created + 1, allocated(left, taken)
    assert capacity(pods, machines) == created


@given(snapshots(), st.lists(sizes, max_size=6))
def test_no_machine_is_given_twice(pods: Pods, wanted: list[int]) -> None:
    given_out: list[UUID] = []
    for machines in wanted:
        taken = allocate(pods, machines)
        if isinstance(taken, Placement):
            given_out += taken.machine_ids
            pods = allocated(pods, taken)
    assert len(given_out) == len(set(given_out))


def packed(view: PodView) -> PackedPod:
    slots = sorted(view.slots, key=lambda slot: slot.slot)
    masks = {state: mask for state, mask in view.masks.items() if mask}
    return PackedPod(
        view.id,
        view.gw_group,
        view.position,
        [slot.slot for slot in slots],
        [slot.machine_id for slot in slots],
        masks,
    )


@given(snapshots(), sizes)
def test_a_packed_snapshot_gives_the_same_answer(pods: Pods, machines: int) -> None:
    assert allocate([packed(view) for view in pods], machines) == allocate(pods, machines)


# Examples ---------------------------------------------------------------------------------------------------------


def placed(pods: Pods, machines: int) -> Placement:
    answer = allocate(pods, machines)
    assert isinstance(answer, Placement), answer
    return answer


def refused(pods: Pods, machines: int) -> WhyNot:
    answer = allocate(pods, machines)
    assert isinstance(answer, WhyNot), answer
    return answer


def test_the_smallest_sufficient_hole_is_used_first() -> None:
    pods = [pod(1, "f" * 16), pod(2, "aaaaffffaaaaaaff"), pod(3, "ffffffffaaaaaaaa")]
    assert placed(pods, 2).machine_ids == (machine(2, 14), machine(2, 15))
    assert placed(pods, 4).machine_ids == tuple(machine(2, place) for place in range(4, 8))
    assert placed(pods, 8).machine_ids == tuple(machine(3, place) for place in range(8))
    assert placed(pods, 16).pod_ids == (UUID(int=1),)


def test_a_lone_free_domain_is_used_before_one_of_a_free_pair() -> None:
    pods = [pod(1, "f" * 16, position=0), pod(2, "f" * 16, position=1), pod(3, "f" * 16, position=2)]
    assert placed(pods, 1).pod_ids == (UUID(int=3),)
    assert placed(pods, 16).pod_ids == (UUID(int=3),)


def test_large_clusters_take_whole_neighbouring_domains_in_order_of_position() -> None:
    pods = [pod(number, "f" * 16, position=position) for number, position in ((1, 3), (2, 2), (3, 1))]
    taken = placed(pods, 32)
    assert taken.pod_ids == (UUID(int=2), UUID(int=1))
    assert taken.machine_ids == tuple(machine(number, place) for number in (2, 1) for place in range(16))


def test_a_run_is_aligned_does_not_wrap_and_stays_in_its_group() -> None:
    unaligned = [pod(1, "f" * 16, position=1), pod(2, "f" * 16, position=2)]
    ring_ends = [pod(1, "f" * 16, position=0), pod(2, "f" * 16, position=3)]
    foreign = [pod(1, "f" * 16, position=0), pod(2, "f" * 16, group="h", position=1)]
    for pods in (unaligned, ring_ends, foreign):
        assert refused(pods, 32).reason is Reason.CAPACITY
        assert "no 2 neighbouring IPU-Link domains" in refused(pods, 32).detail


def test_capacity_is_the_reason_when_everything_is_taken() -> None:
    answer = refused([pod(1, "a" * 14 + "fu")], 4)
    assert answer.reason is Reason.CAPACITY
    assert "takes 4 machines (16 IPUs); the region has 1 free" in answer.detail
    assert "largest cluster that fits now has 1 machine (4 IPUs)" in answer.detail


def test_machines_being_cleaned_are_a_matter_of_waiting() -> None:
    answer = refused([pod(1, "a" * 12 + "ffcc")], 4)
    assert answer.reason is Reason.CAPACITY
    assert "still being cleaned: 2" in answer.detail
    assert answer.numbers.missing == 2


def test_fragmentation_is_the_reason_when_free_machines_lie_apart() -> None:
    answer = refused([pod(1, "fa" * 8)], 2)
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
    answer = refused([pod(1, picture)], 4)
    assert (answer.reason, answer.numbers.missing) == (reason, missing)
    assert words in answer.detail


def test_a_region_without_pods_has_no_room() -> None:
    assert refused([], 1).reason is Reason.CAPACITY
    assert capacity([], 1) == 0


@pytest.mark.parametrize("machines", [0, -1, 3, 12, 48, 512])
def test_only_sizes_that_are_sold_are_placed(machines: int) -> None:
    with pytest.raises(ValueError, match="power of two"):
        allocate([pod(1, "f" * 16)], machines)
    with pytest.raises(ValueError, match="power of two"):
        capacity([], machines)


def test_a_snapshot_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="two pods are at position"):
        allocate([pod(1, "f" * 16, position=0), pod(2, "f" * 16, position=0)], 32)
    twice = replace(pod(1, "ff"), slots=pod(1, "f").slots + pod(2, "f").slots)
    with pytest.raises(ValueError, match="slot 0"):
        allocate([twice], 1)
