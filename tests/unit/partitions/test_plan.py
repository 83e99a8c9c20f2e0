"""The plan: applying it gives what is desired, planning again gives nothing, and strangers are left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.partitions.plan import AT_REST, Action, Desired, Make, Remove, Reset, Verdict, judge, plan
from ipucloud.partitions.states import DesiredState
from ipucloud.site.vipu_ports import PartitionState, SeenPartition

NAMES = [f"ours-{number}" for number in range(6)]
STRANGERS = [f"mine-{number}" for number in range(4)]

shapes = st.builds(PartitionShape, size=st.sampled_from([1, 2, 4, 8]))
desired_states = st.builds(
    Desired, name=st.sampled_from(NAMES), desired_state=st.sampled_from(DesiredState), shape=shapes, sent=st.booleans()
)
desires = st.lists(desired_states, unique_by=lambda each: each.name)
seen_partitions = st.builds(
    SeenPartition,
    id=st.sampled_from(NAMES + STRANGERS),
    state=st.sampled_from(PartitionState),
    shape=shapes,
    ipus=st.just(()),
)
sights = st.lists(seen_partitions, unique_by=lambda each: each.id).map(
    lambda partitions: {each.id: each for each in partitions}
)


def applied(
    desired: list[Desired], observed: Mapping[str, SeenPartition], actions: tuple[Action, ...]
) -> tuple[list[Desired], dict[str, SeenPartition]]:
    """What a controller shows that did all that it was asked for, and what is desired then."""
    after = dict(observed)
    by_name = {each.name: each for each in desired}
    for action in actions:
        match action:
            case Make(name=name, shape=shape):
                after[name] = SeenPartition(name, PartitionState.ACTIVE, shape, ())
            case Remove(name=name):
                del after[name]
            case Reset(name=name):
                after[name] = replace(after[name], state=PartitionState.ACTIVE)
                by_name[name] = replace(by_name[name], sent=True)
    return list(by_name.values()), after


@given(desires, sights)
def test_what_is_planned_brings_what_is_desired(desired: list[Desired], observed: dict[str, SeenPartition]) -> None:
    desired_after, after = applied(desired, observed, plan(desired, observed))
    for partition in desired_after:
        if partition.desired_state is DesiredState.ABSENT:
            assert partition.name not in after
        if partition.desired_state is DesiredState.PRESENT:
            assert partition.name in after
        if (
            partition.desired_state is DesiredState.RESET
            and partition.name in observed
            and observed[partition.name].state in AT_REST
        ):
            assert partition.sent


@given(desires, sights)
def test_planning_again_gives_nothing(desired: list[Desired], observed: dict[str, SeenPartition]) -> None:
    assert plan(*applied(desired, observed, plan(desired, observed))) == ()


@given(desires, sights)
def test_only_own_names_are_touched(desired: list[Desired], observed: dict[str, SeenPartition]) -> None:
    actions = plan(desired, observed)
    kept = {each.name for each in desired if each.desired_state is DesiredState.UNMANAGED}
    assert {action.name for action in actions} <= {each.name for each in desired} - kept
    assert len({action.name for action in actions}) == len(actions)
    _, after = applied(desired, observed, actions)
    for name in STRANGERS:
        assert after.get(name) == observed.get(name)


@given(desires, sights)
def test_removals_come_first(desired: list[Desired], observed: dict[str, SeenPartition]) -> None:
    kinds = [isinstance(action, Remove) for action in plan(desired, observed)]
    assert kinds == sorted(kinds, reverse=True)


@given(desired_states, st.none() | seen_partitions)
def test_a_verdict_never_takes_one_thing_for_another(desired: Desired, observed: SeenPartition | None) -> None:
    verdict = judge(desired, observed)
    if verdict is Verdict.REACHED:
        assert (observed is None) is (desired.desired_state is DesiredState.ABSENT)
        assert observed is None or observed.state is PartitionState.ACTIVE
        assert desired.desired_state is not DesiredState.RESET or desired.sent
    if observed is None and desired.desired_state in {DesiredState.UNMANAGED, DesiredState.RESET}:
        assert verdict is Verdict.MISSING
