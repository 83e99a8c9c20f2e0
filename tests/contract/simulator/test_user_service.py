"""The published V-IPU user service, beyond the sixteen rules: names that do not exist, and attributes of IPUs."""

from __future__ import annotations

import re
from functools import partial

import grpc
import pytest

from ipucloud.wire import vipu_pb2 as pb
from tests.contract.simulator.outcomes import refusal
from tests.support.site import RunningSite
from tests.support.vipu import CALL_SECONDS, PodDriver, VipuDriver


def attributes(vipu: VipuDriver, *agents: str) -> list[pb.ListIPUAttributesReply.Entry]:
    return list(vipu.user.ListIPUAttributes(pb.ListIPUAttributesRequest(agents=agents), timeout=CALL_SECONDS).entries)


def test_unknown_names_are_not_found(vipu: PodDriver) -> None:
    vipu.take(1)
    in_nothing = (partial(vipu.create, "p", 4, **{field: "none"}) for field in ("allocation_id", "cluster_id"))
    about_nothing = (vipu.status, vipu.remove, vipu.reset, vipu.config, vipu.partitions, partial(attributes, vipu))
    for call in (*in_nothing, *(partial(call, "none") for call in about_nothing)):
        assert refusal(call)[0] is grpc.StatusCode.NOT_FOUND, call


@pytest.mark.parametrize(
    ("region", "board", "clock"), [("luxembourg-2", "M2000", "1330MHz"), ("amsterdam-2", "Bow-2000", "1850MHz")]
)
def test_every_attribute_of_every_ipu(shared_site: RunningSite, region: str, board: str, clock: str) -> None:
    vipu = PodDriver.at(shared_site, region)
    vipu.take(1)
    vipu.create("p", 4, reconfigurable=True)
    used, free = attributes(vipu, *vipu.pod[:2])
    vipu.clear()
    serials = {ipu: shown.attributes["board serial number"] for ipu, shown in used.ipu_attributes.items()}
    assert serials[0] == serials[1] != serials[2] == serials[3]
    assert "ipuof routing id" not in free.ipu_attributes[0].attributes
    for ipu, shown in used.ipu_attributes.items():
        half = "0002" if ipu >= 2 else "0001"
        assert re.fullmatch(rf"\d{{4}}\.{half}\.\d{{7}}", serials[ipu])
        assert re.fullmatch(r"\d+\.\d+\.\d+", shown.attributes["firmware version"])
        expected = {
            "board ipu index": str(ipu),
            "board type": board,
            "clock": clock,
            "ipu architecture": "ipu2",
            "ipuof routing id": str(3 - ipu),
            "link speed": "16 GT/s",
            "link width": "8",
            "ipuof routing type": "DNC",
            "partition sync type": "c2-compatible",
            "reconfigurable partition": "true",
        }
        assert {name: shown.attributes[name] for name in expected} == expected
