"""Of which machines a partition in error is reported."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from ipucloud.contract.clusters import ClusterState
from ipucloud.inventory.health.codes import Code
from ipucloud.observation.expected import BrokenPartition, Expected, Holder, Machine
from ipucloud.observation.findings import find
from ipucloud.observation.reading import ControllerReading, Reading
from ipucloud.site.vipu_ports import Agent
from ipucloud.wire.redfish import RedfishStatus, RedfishSystem

POD = uuid4()
MACHINES = [uuid4() for _ in range(4)]
HOLDER = Holder(uuid4(), uuid4(), ClusterState.ACTIVE, "training-1")


def reported(
    *,
    silent: int | None = None,
    resetting: bool = False,
    blamed: tuple[int, ...] = (),
    already: tuple[int, ...] = (),
) -> set[tuple[int, Code]]:
    """The facts when a partition of the first three machines is in error, or `resetting`."""
    names = [f"m{slot}" for slot in range(len(MACHINES))]
    machines = [
        Machine(each, name, POD, is_server=False, controller="c", holder=HOLDER)
        for each, name in zip(MACHINES, names, strict=True)
    ]

    def chosen(slots: tuple[int, ...]) -> list[UUID]:
        return [MACHINES[slot] for slot in slots]

    broken = BrokenPartition("training", resetting, MACHINES[:3], chosen(blamed), chosen(already))
    reading = Reading(
        machines={
            name: RedfishSystem(
                Id=name,
                Name=name,
                Model="IPU-M2000",
                SerialNumber=name,
                PowerState="On",
                Status=RedfishStatus(Health="OK", State="Enabled"),
                BiosVersion="1",
            )
            for name in names
        },
        controllers={
            "c": ControllerReading(
                "c",
                objects=len(names),
                answered=len(names),
                agents={name: Agent(name, reachable=slot != silent) for slot, name in enumerate(names)},
                allocations=frozenset({HOLDER.external_name}),
            )
        },
        hosts=None,
        keys={},
        reads=(),
    )
    result = find(Expected("r", [], machines, [], [broken]), reading)
    return {(MACHINES.index(fact.object_id), fact.code) for fact in result.facts}


def test_when_no_machine_is_known_to_have_failed_it_is_said_of_all() -> None:
    assert reported() == {(slot, Code.PARTITION_ERROR) for slot in range(3)}


def test_a_machine_that_fails_now_explains_it() -> None:
    assert reported(silent=1) == {(1, Code.AGENT_UNREACHABLE)}


def test_the_machine_that_had_failed_is_blamed() -> None:
    assert reported(blamed=(1,)) == {(1, Code.PARTITION_ERROR)}


@pytest.mark.parametrize("already", [(), (2,)])
def test_during_a_reset_only_what_was_said_stays_said(already: tuple[int, ...]) -> None:
    assert reported(resetting=True, blamed=(1,), already=already) == {(slot, Code.PARTITION_ERROR) for slot in already}
