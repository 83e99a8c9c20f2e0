"""Links and allocations are judged by what their V-IPU controller shows, whether or not the BMCs answer."""

from __future__ import annotations

from uuid import uuid4

from ipucloud.contract.clusters import ClusterState
from ipucloud.inventory.health.codes import Code
from ipucloud.observation.expected import Expected, Holder, Machine
from ipucloud.observation.findings import find
from ipucloud.observation.reading import ControllerReading, Reading
from ipucloud.site.vipu_ports import Agent, Link
from ipucloud.wire.inventory import LinkKind, LinkState

HOLDER = Holder(uuid4(), uuid4(), ClusterState.ACTIVE, "training-1")
MACHINE = Machine(uuid4(), "m0", uuid4(), is_server=False, controller="c", holder=HOLDER)


def without_bmcs(*, links: tuple[Link, ...] = (), allocation: str = HOLDER.external_name) -> Reading:
    """What is read of a machine in use, whose agent does not answer either."""
    controller = ControllerReading(
        "c",
        objects=1,
        answered=1,
        agents={"m0": Agent("m0", reachable=False)},
        links=links,
        allocations=frozenset({allocation}),
    )
    return Reading(machines=None, controllers={"c": controller}, hosts=None, keys={}, reads=())


def codes(reading: Reading) -> set[Code]:
    result = find(Expected("r", [], [MACHINE], [], []), reading)
    assert result.answered == set()  # so that no report is cleared
    return {fact.code for fact in result.facts}


def test_a_link_that_is_down_is_found_without_the_bmcs() -> None:
    assert codes(without_bmcs(links=(Link(LinkKind.NEXT, ("m0", "m1"), LinkState.DOWN),))) == {Code.LINK_DOWN}


def test_a_lost_allocation_is_found_without_the_bmcs() -> None:
    assert codes(without_bmcs(allocation="another-1")) == {Code.ALLOCATION_LOST}


def test_what_only_the_bmcs_can_explain_is_not_judged() -> None:
    assert codes(without_bmcs()) == set()
