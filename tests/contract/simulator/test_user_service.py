"""The published V-IPU user service, beyond the sixteen rules: names that do not exist, and attributes of IPUs."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

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


LONG = "x" * 20_000


@pytest.mark.parametrize(
    "call",
    [
        lambda vipu: vipu.create("p", 4, allocation_id=LONG),
        lambda vipu: vipu.create("p", 4, cluster_id=LONG),
        lambda vipu: vipu.partitions(LONG),
        lambda vipu: vipu.config(LONG),
    ],
)
def test_a_name_of_any_length_is_not_found(vipu: VipuDriver, call: Callable[[VipuDriver], object]) -> None:
    code, sentence = refusal(call, vipu)
    assert code is grpc.StatusCode.NOT_FOUND
    assert sentence.endswith("does not exist")
    assert len(sentence) < 2000


def test_what_is_no_message_is_said_to_be_none(vipu: VipuDriver) -> None:
    raw = vipu.channel.unary_unary("/virmgrpc.VersionService/GetVersion", bytes, bytes)
    code, sentence = refusal(raw, b"\xff\xff\xff", timeout=CALL_SECONDS)
    assert code is grpc.StatusCode.INTERNAL
    assert "cannot be read" in sentence


def test_refusals_do_not_contradict_what_is_free(vipu: PodDriver) -> None:
    vipu.take(4)
    ipus = [pb.PartitionIpu(ipulink_domain_topology_id=99, topology_id=each) for each in range(4)]
    unknown = refusal(vipu.create, "p", 4, cluster_id=vipu.cluster, ipus=ipus)
    assert unknown[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert "IPU-Link domain 99" in unknown[1]
    options: dict[str, Any] = {"allocation_id": "a", "num_ipulink_segments": 2, "num_gcds": 2}
    code, sentence = refusal(vipu.create, "p", 16, **options)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "2 aligned block(s) of 8 IPUs, each in another of neighbouring IPU-Link domains" in sentence
