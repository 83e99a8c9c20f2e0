"""The sixteen rules of a V-IPU controller, one test each, through gRPC; the docs list them under the same numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import httpx
import orjson

from ipucloud.wire import vipu_pb2 as pb
from tests.contract.simulator.outcomes import refusal
from tests.support.site import RunningSite, running_site
from tests.support.vipu import PodDriver, VipuDriver

INVALID = grpc.StatusCode.INVALID_ARGUMENT
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


def refused(vipu: VipuDriver, code: grpc.StatusCode, name: str = "p", size: int = 0, **fields: Any) -> str:
    """The sentence of a creation that must be refused with `code`, and change nothing."""
    before = vipu.partitions()
    refused_with, sentence = refusal(vipu.create, name, size, **fields)
    assert (refused_with, vipu.partitions()) == (code, before)
    return sentence


def spec(vipu: VipuDriver, name: str) -> pb.PartitionSpec:
    return vipu.partitions()[name].spec


def test_rule_01_a_size_is_a_power_of_two(vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, vipu.pod)
    for size in (0, 3, 5, 6, 12, 24, 48, 63):
        assert f"size {size} is not a power of two" in refused(vipu, INVALID, size=size)
    for size in (1, 2, 4, 8, 16):
        vipu.create(f"p{size}", size)
    assert {len(partition.spec.ipus) for partition in vipu.partitions().values()} == {1, 2, 4, 8, 16}


def test_rule_02_agents_clusters_allocations_partitions_gcds_devices(vipu: PodDriver, shared_site: RunningSite) -> None:
    agents = vipu.allocate("a", vipu.cluster, vipu.pod[2:4])
    vipu.create("p", 8, allocation_id="a", num_gcds=2)
    rnics = {machine.rnic: machine.name for machine in shared_site.region().pods[0].machines}
    gcds = vipu.config("p").gcd_configs
    assert [sorted({rnics[device.ip] for device in gcd.devices}) for gcd in gcds] == [[agents[0]], [agents[1]]]
    assert (spec(vipu, "p").allocation_id, spec(vipu, "p").cluster_id) == ("a", vipu.cluster)
    assert {len(gcd.devices) for gcd in gcds} == {4}


def test_rule_03_a_partition_never_spans_two_allocations(vipu: PodDriver) -> None:
    vipu.take(2)
    vipu.allocate("b", vipu.cluster, vipu.pod[2:4])
    sentence = refused(vipu, EXHAUSTED, size=16)
    assert "a has 8 IPUs free" in sentence
    assert "b has 8 IPUs free" in sentence
    assert "no free allocation" in sentence
    vipu.clear()
    vipu.allocate("four", vipu.cluster, vipu.pod[:4])
    vipu.allocate("two", vipu.cluster, vipu.pod[4:6])
    vipu.create("p", 16)
    assert spec(vipu, "p").allocation_id == "four"
    refused(vipu, EXHAUSTED, "q", 32)


def test_rule_04_a_domain_has_64_ipus_and_every_domain_a_gcd(vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, size=32)
    assert "at least 2 GCDs" in refused(vipu, INVALID, size=128)
    assert "at least 2 IPU-Link domains" in refused(vipu, INVALID, size=128, num_gcds=2, num_ipulink_segments=1)
    vipu.create("p", 128, num_gcds=4)
    assert spec(vipu, "p").num_ipulink_segments == 2
    assert (spec(vipu, "p").ipulink_routing_type, spec(vipu, "p").gw_routing_type) == (pb.IRT_RINGSWNC, pb.GRT_RING)
    segments = [{device.ipulink_segment_id for device in gcd.devices} for gcd in vipu.config("p").gcd_configs]
    assert segments == [{0}, {0}, {1}, {1}]


def test_rule_05_reconfigurable_means_its_own_sync_type_and_one_domain(vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, size=32)
    vipu.create("p", 4, reconfigurable=True)
    assert spec(vipu, "p").sync_type == pb.ST_GS2_DEFAULT
    requirements = {"size": 4, "reconfigurable": True, "sync_type": pb.ST_POD_NATIVE_DEFAULT}
    assert "ST_GS2_DEFAULT" in refused(vipu, INVALID, "q", **requirements)
    assert "one IPU-Link domain" in refused(vipu, INVALID, "q", 128, num_gcds=2, reconfigurable=True)


def test_rule_06_independent_rails_are_unsupported(vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, size=1)
    for reconfigurable in (False, True):
        rails = pb.ST_GS2_INDEPENDENT_RAILS
        assert "unsupported" in refused(vipu, INVALID, size=4, sync_type=rails, reconfigurable=reconfigurable)
    refused(vipu, INVALID, size=4, sync_type=77)


def test_rule_07_listed_ipus_need_their_cluster(vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, size=1)
    listed = [pb.PartitionIpu(topology_id=number) for number in (2, 3)]
    assert "cluster_id" in refused(vipu, INVALID, ipus=listed)
    vipu.create("p", ipus=listed, cluster_id=vipu.cluster)
    assert {ipu.topology_id for ipu in spec(vipu, "p").ipus} == {2, 3}
    refused(vipu, EXHAUSTED, "q", ipus=listed, cluster_id=vipu.cluster)


def test_rule_07_routing_ids_of_listed_ipus_are_checked(vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, size=1)
    wrong = [pb.PartitionIpu(topology_id=number, routing_id=7 - number) for number in (2, 3)]
    assert "routing id" in refused(vipu, INVALID, ipus=wrong, cluster_id=vipu.cluster)
    vipu.create("p", ipus=[pb.PartitionIpu(topology_id=number) for number in (2, 3)], cluster_id=vipu.cluster)
    got = spec(vipu, "p").ipus
    vipu.remove("p")
    vipu.create("q", ipus=got, cluster_id=vipu.cluster)
    assert list(spec(vipu, "q").ipus) == list(got)


def test_rule_08_gcds_and_replicas_divide_evenly(vipu: PodDriver) -> None:
    vipu.take(2)
    for size, gcds, replicas in ((4, 3, 0), (4, 2, 3), (4, 1, 3), (2, 4, 0), (4, 2, 8)):
        refused(vipu, INVALID, size=size, num_gcds=gcds, num_replicas=replicas)
    for number, (size, gcds, replicas, actual_replicas) in enumerate(((4, 2, 4, 4), (2, 2, 0, 2), (2, 1, 2, 2))):
        vipu.create(f"p{number}", size, num_gcds=gcds, num_replicas=replicas)
        assert spec(vipu, f"p{number}").num_replicas == actual_replicas


def test_rule_09_a_gcd_has_its_share_of_the_devices(vipu: PodDriver) -> None:
    vipu.take(4)
    for gcds in (1, 2, 4, 8, 16):
        vipu.create("p", 16, num_gcds=gcds)
        for number in range(gcds):
            (gcd,) = vipu.config("p", number).gcd_configs
            assert (len(gcd.devices), gcd.attributes["GCD Id"]) == (16 // gcds, str(number))
            share = range(16 // gcds * number, 16 // gcds * (number + 1))
            assert [device.routing_id for device in gcd.devices] == list(share)
        assert refusal(vipu.config, "p", gcds)[0] is grpc.StatusCode.NOT_FOUND
        vipu.remove("p")


def test_rule_10_blocks_are_aligned_and_fragmentation_refuses(vipu: PodDriver) -> None:
    vipu.take(4)
    for number in range(4):
        vipu.create(f"p{number}", 4)
    blocks = {name: {ipu.topology_id for ipu in partition.spec.ipus} for name, partition in vipu.partitions().items()}
    assert sorted(map(min, blocks.values())) == [0, 4, 8, 12]
    assert set().union(*blocks.values()) == set(range(16)), "no IPU is in two"
    refused(vipu, EXHAUSTED, "q", 1)
    for name in [name for name, ipus in blocks.items() if min(ipus) in {4, 8}]:
        vipu.remove(name)
    sentence = refused(vipu, EXHAUSTED, "q", 8)
    assert "8 IPUs free, the largest aligned block 4" in sentence


def test_rule_10_machines_that_are_off_are_not_room(vipu: PodDriver, http: httpx.Client) -> None:
    vipu.take(2)
    for count, said in ((1, "1 of 2 machines do not answer"), (2, "all 2 are switched off or unreachable")):
        http.post(f"/v1/machines/{vipu.pod[count - 1]}:fail").raise_for_status()
        assert said in refused(vipu, EXHAUSTED, size=8)


def test_rule_11_names_are_taken_once_and_have_36_characters(vipu: PodDriver) -> None:
    vipu.take(2)
    vipu.create("x" * 36, 4)
    assert "exists" in refused(vipu, grpc.StatusCode.ALREADY_EXISTS, "x" * 36, 4)
    assert "at most 36" in refused(vipu, INVALID, "x" * 37, 4)
    assert len(refused(vipu, INVALID, "x" * 100_000, 4)) < 100
    refused(vipu, INVALID, "", 4)


def test_rule_12_routing_follows_size_and_topology(vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, size=32)
    vipu.create("torus", 64)
    assert spec(vipu, "torus").ipulink_routing_type == pb.IRT_RINGSWNC
    vipu.create("small", 32)
    assert spec(vipu, "small").ipulink_routing_type == pb.IRT_DNC
    assert "looped" in refused(vipu, INVALID, "q", 4, gw_routing_type=pb.GRT_SWRING)
    vipu.create("ring", 4, gw_routing_type=pb.GRT_RING)
    assert spec(vipu, "ring").gw_routing_type == pb.GRT_RING


def test_rule_13_allocations_are_whole_machines(vipu: PodDriver) -> None:
    assert len(vipu.allocate("a", vipu.cluster, size=30)) == 30
    code, sentence = refusal(vipu.allocate, "b", vipu.cluster, size=3)
    assert code is EXHAUSTED
    assert "no free allocation: 3 machines are asked for, 2 are free" in sentence
    vipu.clear()
    assert "no free allocation" in refused(vipu, EXHAUSTED, size=4)


def test_rule_14_without_keys_everybody_sees_everything(vipu: PodDriver) -> None:
    """With keys: `test_secure.py`."""
    for number, name in enumerate("ab"):
        vipu.allocate(name, vipu.cluster, [vipu.pod[number]])
        vipu.create(f"in-{name}", 4, allocation_id=name)
    assert set(vipu.partitions()) == {"in-a", "in-b"}
    assert set(vipu.partitions("b")) == {"in-b"}


def test_rule_15_state_is_one_json_file_and_survives_a_kill(tmp_path: Path) -> None:
    with running_site(tmp_path, options=["--machines-on"]) as site:
        vipu = PodDriver.at(site)
        vipu.take(4)
        vipu.create("p", 8, num_gcds=2)
        before = vipu.partitions(), vipu.status("p"), vipu.config("p"), vipu.allocations()
        site.kill()
        stored = orjson.loads((tmp_path / "vipu-luxembourg-2.json").read_bytes())
        assert (set(stored["partitions"]), set(stored["allocations"])) == ({"a/p"}, {"a"})
        site.start()
        vipu = PodDriver.at(site)
        assert (vipu.partitions(), vipu.status("p"), vipu.config("p"), vipu.allocations()) == before


def test_rule_16_a_partition_is_there_although_its_client_gave_up(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, size=1)
    http.post("/v1/faults", json={"call": "vipu.CreatePartition", "action": "drop_answer", "seconds": 60, "times": 1})
    vipu.create_and_give_up("p", 4, lambda: "p" in vipu.partitions())
    assert "read it before" in refused(vipu, grpc.StatusCode.ALREADY_EXISTS, size=4)
    assert vipu.status("p").ready_state == pb.PS_ACTIVE
