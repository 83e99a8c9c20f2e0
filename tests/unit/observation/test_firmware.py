"""Which machines are said to have another firmware than their pod."""

from __future__ import annotations

from uuid import uuid4

import pytest

from ipucloud.inventory.health.codes import Code
from ipucloud.observation.expected import Expected, Machine
from ipucloud.observation.findings import find
from ipucloud.observation.reading import Reading
from ipucloud.wire.redfish import RedfishStatus, RedfishSystem


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
def test_a_machine_differs_from_more_than_half_of_its_pod(versions: list[str], differing: list[str]) -> None:
    pod, other = uuid4(), uuid4()
    machines = [
        Machine(uuid4(), f"m{slot}", pod, is_server=False, controller="c", holder=None) for slot in range(len(versions))
    ]
    alone = Machine(uuid4(), "elsewhere", other, is_server=False, controller="c", holder=None)
    systems = {
        name: RedfishSystem(
            Id=name,
            Name=name,
            Model="IPU-M2000",
            SerialNumber=name,
            PowerState="Off",
            Status=RedfishStatus(Health="OK", State="StandbyOffline"),
            BiosVersion=version,
        )
        for name, version in [*zip([each.name for each in machines], versions, strict=True), ("elsewhere", "1.0")]
    }
    reading = Reading(machines=systems, controllers={}, hosts=None, keys={}, reads=())
    facts = find(Expected("r", [], [*machines, alone], [], []), reading).facts
    names = {each.id: each.name for each in [*machines, alone]}
    assert [(names[fact.object_id], fact.code) for fact in facts] == [
        (name, Code.FIRMWARE_DIFFERS) for name in differing
    ]
