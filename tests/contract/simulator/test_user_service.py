"""The published V-IPU user service, through gRPC against the process."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from ipucloud.wire import vipu_pb2 as pb
from tests.support.site import RunningSite
from tests.support.vipu import CALL_SECONDS, VipuDriver, code_of, sentence_of


def refused(code: grpc.StatusCode, vipu: VipuDriver, name: str, size: int = 0, **fields: Any) -> str:
    """The sentence of a creation that must be refused with `code`."""
    with pytest.raises(grpc.RpcError) as caught:
        vipu.create(name, size, **fields)
    assert code_of(caught.value) is code
    return sentence_of(caught.value)


def test_the_version_is_reported(vipu: VipuDriver) -> None:
    assert vipu.version.GetVersion(pb.VersionRequest(), timeout=CALL_SECONDS).version == "1.18.0"


def test_from_agents_to_devices(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:4])
    vipu.create("p", 16, allocation_id="a", reconfigurable=True)
    listed = vipu.partitions("a")["p"]
    assert listed.ready_state == pb.PS_ACTIVE
    assert listed.spec.allocation_id == "a"
    assert listed.spec.cluster_id == cluster_id
    assert listed.spec.sync_type == pb.ST_GS2_DEFAULT
    assert listed.spec.ipulink_routing_type == pb.IRT_DNC
    assert len(vipu.config("p").gcd_configs[0].devices) == 16


def test_devices_are_numbered_from_the_highest_ipu_of_the_first_machine(
    vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:2])
    vipu.create("p", 8, allocation_id="a", reconfigurable=True)
    devices = vipu.config("p").gcd_configs[0].devices
    assert [(device.ip, device.ipu_id) for device in devices] == [
        *(("10.5.1.1", ipu) for ipu in (3, 2, 1, 0)),
        *(("10.5.1.2", ipu) for ipu in (3, 2, 1, 0)),
    ]
    assert [device.server_port for device in devices[:4]] == [50055, 50054, 50053, 50052]
    assert [device.routing_id for device in devices] == list(range(8))
    assert len({device.chip_id for device in devices}) == 8


def test_physical_and_logical_numbers_of_the_ipus_match_the_devices(
    vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[4:5])
    vipu.create("p", 4, allocation_id="a")
    ipus = vipu.partitions("a")["p"].spec.ipus
    assert [(ipu.topology_id, ipu.routing_id) for ipu in ipus] == [(19, 0), (18, 1), (17, 2), (16, 3)]


def test_every_gcd_has_its_own_devices(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    vipu.create("p", 4, allocation_id="a", num_gcds=2)
    everything, first, second = vipu.config("p"), vipu.config("p", 0), vipu.config("p", 1)
    assert [gcd.attributes["GCD Id"] for gcd in everything.gcd_configs] == ["0", "1"]
    assert [device.routing_id for device in first.gcd_configs[0].devices] == [0, 1]
    assert [device.routing_id for device in second.gcd_configs[0].devices] == [2, 3]
    with pytest.raises(grpc.RpcError) as caught:
        vipu.config("p", 2)
    assert code_of(caught.value) is grpc.StatusCode.NOT_FOUND


def test_a_partition_never_spans_two_allocations(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:2])
    vipu.allocate("b", cluster_id, pod[2:4])
    sentence = refused(grpc.StatusCode.RESOURCE_EXHAUSTED, vipu, "p", 16)
    assert "no free allocation" in sentence
    assert "a has 8 IPUs free" in sentence


def test_the_allocation_that_is_large_enough_is_used(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("small", cluster_id, pod[4:6])
    vipu.allocate("large", cluster_id, pod[:4])
    vipu.create("p", 16)
    assert vipu.partitions()["p"].spec.allocation_id == "large"
    refused(grpc.StatusCode.RESOURCE_EXHAUSTED, vipu, "q", 32)


def test_a_partition_over_two_domains(vipu: VipuDriver, cluster_id: str) -> None:
    vipu.allocate("a", cluster_id, size=32)
    vipu.create("p", 128, num_gcds=2)
    spec = vipu.partitions()["p"].spec
    assert (spec.num_ipulink_segments, spec.num_gcds, len(spec.ipus)) == (2, 2, 128)
    assert spec.ipulink_routing_type == pb.IRT_RINGSWNC
    assert spec.gw_routing_type == pb.GRT_RING
    segments = [[d.ipulink_segment_id for d in gcd.devices] for gcd in vipu.config("p").gcd_configs]
    assert segments == [[0] * 64, [1] * 64]


def test_an_ipu_is_in_one_partition_only(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    for name in ("p", "q", "r", "s"):
        vipu.create(name, 1)
    devices = [(d.ip, d.ipu_id) for name in "pqrs" for d in vipu.config(name).gcd_configs[0].devices]
    assert len(set(devices)) == 4
    refused(grpc.StatusCode.RESOURCE_EXHAUSTED, vipu, "t", 1)


def test_fragmentation_refuses_and_says_what_would_fit(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    for name in ("p", "q", "r"):
        vipu.create(name, 1)
    vipu.remove("q")
    sentence = refused(grpc.StatusCode.RESOURCE_EXHAUSTED, vipu, "t", 2)
    assert "2 IPUs free, the largest aligned block 1" in sentence


def test_listed_ipus_are_taken_as_listed(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:2])
    ipus = [pb.PartitionIpu(topology_id=n) for n in (4, 5)]
    vipu.create("p", ipus=ipus, cluster_id=cluster_id)
    assert sorted(ipu.topology_id for ipu in vipu.partitions()["p"].spec.ipus) == [4, 5]
    refused(grpc.StatusCode.RESOURCE_EXHAUSTED, vipu, "q", ipus=ipus, cluster_id=cluster_id)
    refused(grpc.StatusCode.INVALID_ARGUMENT, vipu, "q", ipus=ipus)


def test_a_name_is_taken_until_its_partition_is_gone(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:2])
    vipu.create("p", 4)
    refused(grpc.StatusCode.ALREADY_EXISTS, vipu, "p", 4)
    vipu.remove("p")
    vipu.create("p", 8)
    assert len(vipu.partitions()["p"].spec.ipus) == 8


def test_bad_requests_are_invalid(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    refused(grpc.StatusCode.INVALID_ARGUMENT, vipu, "p", 3)
    refused(grpc.StatusCode.INVALID_ARGUMENT, vipu, "x" * 37, 4)
    refused(grpc.StatusCode.INVALID_ARGUMENT, vipu, "", 4)
    refused(grpc.StatusCode.INVALID_ARGUMENT, vipu, "p", 4, sync_type=pb.ST_GS2_INDEPENDENT_RAILS)
    refused(grpc.StatusCode.INVALID_ARGUMENT, vipu, "p", 4, sync_type=77)
    assert vipu.partitions() == {}


def test_unknown_names_are_not_found(vipu: VipuDriver, cluster_id: str) -> None:
    refused(grpc.StatusCode.NOT_FOUND, vipu, "p", 4, allocation_id="none")
    refused(grpc.StatusCode.NOT_FOUND, vipu, "p", 4, cluster_id="none")
    for call in (vipu.status, vipu.remove, vipu.reset, vipu.config, vipu.partitions):
        with pytest.raises(grpc.RpcError) as caught:
            call("none")
        assert code_of(caught.value) is grpc.StatusCode.NOT_FOUND


def test_without_any_allocation_there_is_no_partition(vipu: VipuDriver) -> None:
    assert "no free allocation" in refused(grpc.StatusCode.RESOURCE_EXHAUSTED, vipu, "p", 4)


def test_every_caller_sees_every_partition(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    vipu.allocate("b", cluster_id, pod[1:2])
    vipu.create("p", 4, allocation_id="a")
    vipu.create("q", 4, allocation_id="b")
    assert set(vipu.partitions()) == {"p", "q"}
    assert set(vipu.partitions("b")) == {"q"}


def test_attributes_show_the_board_and_the_partition(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    vipu.create("p", 4, reconfigurable=True)
    reply = vipu.user.ListIPUAttributes(pb.ListIPUAttributesRequest(agents=pod[:2]), timeout=CALL_SECONDS)
    used, free = (entry.ipu_attributes for entry in reply.entries)
    assert sorted(used) == [0, 1, 2, 3]
    assert used[3].attributes["board type"] == "M2000"
    assert used[3].attributes["clock"] == "1330MHz"
    assert used[3].attributes["ipuof routing id"] == "0"
    assert used[0].attributes["reconfigurable partition"] == "true"
    assert used[3].attributes["board serial number"] == used[2].attributes["board serial number"]
    assert used[3].attributes["board serial number"] != used[1].attributes["board serial number"]
    assert "ipuof routing id" not in free[0].attributes


@pytest.mark.parametrize(
    ("region", "board", "clock"), [("luxembourg-2", "M2000", "1330MHz"), ("amsterdam-2", "Bow-2000", "1850MHz")]
)
def test_every_attribute_of_every_ipu(shared_site: RunningSite, region: str, board: str, clock: str) -> None:
    vipu = VipuDriver(shared_site.channel(region))
    pod = shared_site.region(region).pods[0]
    machine = pod.machines[0].name
    vipu.allocate("a", pod.cluster_id or "", [machine])
    vipu.create("p", 4, reconfigurable=True)
    (entry,) = vipu.user.ListIPUAttributes(pb.ListIPUAttributesRequest(agents=[machine]), timeout=CALL_SECONDS).entries
    vipu.clear()
    for ipu, shown in entry.ipu_attributes.items():
        half = "0002" if ipu >= 2 else "0001"
        assert re.fullmatch(rf"\d{{4}}\.{half}\.\d{{7}}", shown.attributes["board serial number"])
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


def test_attributes_of_an_unknown_agent_are_not_found(vipu: VipuDriver) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        vipu.user.ListIPUAttributes(pb.ListIPUAttributesRequest(agents=["none"]), timeout=CALL_SECONDS)
    assert code_of(caught.value) is grpc.StatusCode.NOT_FOUND


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
    with pytest.raises(grpc.RpcError) as caught:
        call(vipu)
    assert code_of(caught.value) is grpc.StatusCode.NOT_FOUND
    assert sentence_of(caught.value).endswith("does not exist")
    assert len(sentence_of(caught.value)) < 2000


def test_what_is_no_message_is_said_to_be_none(vipu: VipuDriver) -> None:
    raw = vipu.channel.unary_unary("/virmgrpc.VersionService/GetVersion", bytes, bytes)
    with pytest.raises(grpc.RpcError) as caught:
        raw(b"\xff\xff\xff", timeout=CALL_SECONDS)
    assert code_of(caught.value) is grpc.StatusCode.INTERNAL
    assert "cannot be read" in sentence_of(caught.value)


def test_refusals_do_not_contradict_what_is_free(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:4])
    ipus = [pb.PartitionIpu(ipulink_domain_topology_id=99, topology_id=each) for each in range(4)]
    sentence = refused(grpc.StatusCode.INVALID_ARGUMENT, vipu, "p", 4, cluster_id=cluster_id, ipus=ipus)
    assert "IPU-Link domain 99" in sentence
    options: dict[str, Any] = {"allocation_id": "a", "num_ipulink_segments": 2, "num_gcds": 2}
    sentence = refused(grpc.StatusCode.RESOURCE_EXHAUSTED, vipu, "p", 16, **options)
    assert "2 aligned block(s) of 8 IPUs, each in another of neighbouring IPU-Link domains" in sentence
