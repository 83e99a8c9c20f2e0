"""What is found in one reading: other firmware than the pod's, links and allocations, partitions in error."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest

from ipucloud.contract.clusters import ClusterState
from ipucloud.inventory.health.codes import Code
from ipucloud.observation.expected import BrokenPartition, Expected, Holder, Machine
from ipucloud.observation.findings import Findings, find
from ipucloud.observation.reading import ControllerReading, Reading
from ipucloud.site.vipu_ports import Agent, Link
from ipucloud.wire.inventory import LinkKind, LinkState
from ipucloud.wire.redfish import RedfishStatus, RedfishSystem

POD = uuid4()
HOLDER = Holder(uuid4(), uuid4(), ClusterState.ACTIVE, "training-1")


def machine(name: str, pod: UUID = POD, holder: Holder | None = HOLDER) -> Machine:
    return Machine(uuid4(), name, pod, is_server=False, controller="c", holder=holder)


def system(name: str, version: str = "1") -> RedfishSystem:
    status = RedfishStatus(Health="OK", State="Enabled")
    return RedfishSystem(
        Id=name, Name=name, Model="IPU-M2000", SerialNumber=name, PowerState="On", Status=status, BiosVersion=version
    )


def read(
    machines: Sequence[Machine],
    controller: ControllerReading | None = None,
    versions: dict[str, str] | None = None,
    broken: Sequence[BrokenPartition] = (),
) -> Findings:
    """What is found when BMCs show these versions; None: no BMC answers."""
    systems = None if versions is None else {name: system(name, version) for name, version in versions.items()}
    controllers = {} if controller is None else {"c": controller}
    reading = Reading(machines=systems, controllers=controllers, hosts=None, keys={}, reads=())
    return find(Expected("r", [], [*machines], [], [*broken]), reading)


@pytest.mark.parametrize(
    ("versions", "differing"),
    [
        (["2.6.0", "2.6.0", "2.6.0"], []),
        (["2.6.0", "2.5.1", "2.6.0"], ["m1"]),
        (["2.6.0", "2.5.1", "2.4.0", "2.6.0", "2.6.0"], ["m1", "m2"]),
        (["2.6.0", "2.5.1"], []),  # neither is that of more than half
        (["2.6.0"], []),
    ],
)
def test_firmware_differs_from_that_of_more_than_half_of_its_pod(versions: list[str], differing: list[str]) -> None:
    machines = [machine(f"m{slot}", holder=None) for slot in range(len(versions))]
    machines.append(machine("elsewhere", uuid4(), holder=None))
    shown = dict(zip((each.name for each in machines), [*versions, "1.0"], strict=True))
    names = {each.id: each.name for each in machines}
    facts = [(names[fact.object_id], fact.code) for fact in read(machines, versions=shown).facts]
    assert facts == [(name, Code.FIRMWARE_DIFFERS) for name in differing]


@pytest.mark.parametrize(
    ("links", "allocation", "codes"),
    [
        ((Link(LinkKind.NEXT, ("m0", "m1"), LinkState.DOWN),), HOLDER.external_name, {Code.LINK_DOWN}),
        ((), "another-1", {Code.ALLOCATION_LOST}),
        ((), HOLDER.external_name, set()),  # why the agent is silent, only the BMC could explain
    ],
)
def test_links_and_allocations_need_no_bmcs(links: tuple[Link, ...], allocation: str, codes: set[Code]) -> None:
    """Of a machine in use, whose agent does not answer either."""
    agents, allocations = {"m0": Agent("m0", reachable=False)}, frozenset({allocation})
    result = read([machine("m0")], ControllerReading("c", 1, 1, agents=agents, links=links, allocations=allocations))
    assert result.answered == set()  # so that no report is cleared
    assert {fact.code for fact in result.facts} == codes


ERROR = Code.PARTITION_ERROR


@pytest.mark.parametrize(
    ("silent", "resetting", "blamed", "already", "reported"),
    [
        pytest.param(None, False, [], [], [(0, ERROR), (1, ERROR), (2, ERROR)], id="none is known to have failed"),
        pytest.param(1, False, [], [], [(1, Code.AGENT_UNREACHABLE)], id="one that fails now explains it"),
        pytest.param(None, False, [1], [], [(1, ERROR)], id="one that had failed is blamed"),
        pytest.param(None, True, [1], [], [], id="nothing is said during a reset"),
        pytest.param(None, True, [1], [2], [(2, ERROR)], id="what was said stays said during a reset"),
    ],
)
def test_of_which_machines_a_partition_in_error_is_reported(
    *, silent: int | None, resetting: bool, blamed: list[int], already: list[int], reported: list[tuple[int, Code]]
) -> None:
    """A partition of the first three machines is in error, or is reset."""
    machines = [machine(f"m{slot}") for slot in range(4)]
    ids = [each.id for each in machines]
    broken = BrokenPartition(
        "training", resetting, ids[:3], [ids[slot] for slot in blamed], [ids[slot] for slot in already]
    )
    agents = {each.name: Agent(each.name, reachable=slot != silent) for slot, each in enumerate(machines)}
    controller = ControllerReading("c", 4, 4, agents=agents, allocations=frozenset({HOLDER.external_name}))
    result = read(machines, controller, {each.name: "1" for each in machines}, [broken])
    assert {(ids.index(fact.object_id), fact.code) for fact in result.facts} == {*reported}
