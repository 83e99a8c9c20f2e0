"""The rules of a partition request, as pure functions."""

from __future__ import annotations

from typing import Any

import pytest

from ipucloud.laboratory.simulator.hardware import build_regions
from ipucloud.laboratory.simulator.refusal import Reason, Refusal
from ipucloud.laboratory.simulator.settings import Settings
from ipucloud.laboratory.simulator.vipu.model import FleetChanges, Shape
from ipucloud.laboratory.simulator.vipu.rules import check_id, shape_of, with_routing
from ipucloud.laboratory.simulator.vipu.topology import Cluster, Fleet
from ipucloud.wire import vipu_pb2 as pb


def shape(size: int = 0, **fields: Any) -> Shape:
    return shape_of(pb.PartitionRequirements(id="p", size=size, **fields))


def refusal(size: int = 0, **fields: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        shape(size, **fields)
    return caught.value


def cluster(*, torus: bool, looped: bool = True) -> Cluster:
    return Cluster("c", (), torus=torus, looped=looped)


@pytest.mark.parametrize("size", [0, 3, 6, 12, 48, 100])
def test_a_size_that_is_not_a_power_of_two_is_invalid(size: int) -> None:
    assert refusal(size).reason is Reason.INVALID
    assert str(size) in refusal(size).sentence


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32, 64])
def test_unset_fields_have_their_documented_meaning(size: int) -> None:
    default = shape(size)
    assert (default.gcds, default.replicas, default.segments) == (1, 1, 1)
    assert default.sync_type == "ST_POD_NATIVE_DEFAULT"


def test_more_than_one_domain_is_derived_from_the_size() -> None:
    assert shape(128, num_gcds=2).segments == 2
    assert shape(256, num_gcds=4).segments == 4


def test_a_partition_over_several_domains_needs_a_gcd_in_each() -> None:
    assert "at least 2 GCDs" in refusal(128).sentence
    assert shape(128, num_gcds=2).gcds == 2


def test_too_few_domains_are_refused() -> None:
    assert "at least 4 IPU-Link domains" in refusal(256, num_gcds=4, num_ipulink_segments=2).sentence


def test_a_domain_count_that_cannot_share_the_ipus_is_refused() -> None:
    assert refusal(16, num_gcds=4, num_ipulink_segments=3).reason is Reason.INVALID
    assert refusal(2, num_gcds=2, num_ipulink_segments=4).reason is Reason.INVALID


def test_reconfigurable_means_the_c2_compatible_sync_type() -> None:
    assert shape(4, reconfigurable=True).sync_type == "ST_GS2_DEFAULT"
    assert shape(4, reconfigurable=True, sync_type=pb.ST_GS2_DEFAULT).sync_type == "ST_GS2_DEFAULT"


def test_reconfigurable_with_another_sync_type_is_refused() -> None:
    sentence = refusal(4, reconfigurable=True, sync_type=pb.ST_POD_NATIVE_DEFAULT).sentence
    assert "ST_POD_NATIVE_DEFAULT" in sentence


def test_reconfigurable_beyond_one_domain_is_refused() -> None:
    assert "reconfigurable" in refusal(128, num_gcds=2, reconfigurable=True).sentence


@pytest.mark.parametrize("reconfigurable", [False, True])
def test_independent_rails_are_unsupported(reconfigurable: bool) -> None:
    sentence = refusal(4, sync_type=pb.ST_GS2_INDEPENDENT_RAILS, reconfigurable=reconfigurable).sentence
    assert "unsupported" in sentence


def test_listed_ipus_need_their_cluster() -> None:
    assert "cluster_id" in refusal(ipus=[pb.PartitionIpu(topology_id=0)]).sentence


def test_listed_ipus_give_the_size() -> None:
    ipus = [pb.PartitionIpu(topology_id=n) for n in range(2)]
    assert shape(ipus=ipus, cluster_id="c").size == 2
    assert refusal(4, ipus=ipus, cluster_id="c").reason is Reason.INVALID


@pytest.mark.parametrize(("size", "gcds", "replicas"), [(4, 2, 4), (2, 2, 0), (2, 1, 2), (16, 4, 0), (1, 1, 1)])
def test_gcds_and_replicas_that_divide_are_accepted(size: int, gcds: int, replicas: int) -> None:
    accepted = shape(size, num_gcds=gcds, num_replicas=replicas)
    assert accepted.replicas == (replicas or gcds)


@pytest.mark.parametrize(("size", "gcds", "replicas"), [(4, 3, 0), (4, 8, 0), (4, 2, 3), (4, 1, 3), (4, 2, 8)])
def test_gcds_and_replicas_that_do_not_divide_are_refused(size: int, gcds: int, replicas: int) -> None:
    assert refusal(size, num_gcds=gcds, num_replicas=replicas).reason is Reason.INVALID


def test_default_routing_follows_size_and_topology() -> None:
    assert with_routing(shape(64), cluster(torus=True)).routing == "IRT_RINGSWNC"
    assert with_routing(shape(64), cluster(torus=False)).routing == "IRT_SWNC"
    assert with_routing(shape(32), cluster(torus=True)).routing == "IRT_DNC"


def test_default_gateway_routing_follows_the_gateways() -> None:
    several = shape(128, num_gcds=2)
    assert with_routing(several, cluster(torus=True, looped=True)).gw_routing == "GRT_RING"
    assert with_routing(several, cluster(torus=True, looped=False)).gw_routing == "GRT_SWRING"
    assert with_routing(shape(16), cluster(torus=True)).gw_routing == "GRT_UNDEFINED"


def test_routing_that_the_cluster_cannot_do_is_refused() -> None:
    impossible = [
        (shape(16, ipulink_routing_type=pb.IRT_RINGSWNC), cluster(torus=False)),
        (shape(16, gw_routing_type=pb.GRT_RING), cluster(torus=True, looped=False)),
        (shape(16, gw_routing_type=pb.GRT_SWRING), cluster(torus=True, looped=True)),
    ]
    for routing, on in impossible:
        with pytest.raises(Refusal):
            with_routing(routing, on)


def test_explicit_routing_is_kept() -> None:
    assert with_routing(shape(16, ipulink_routing_type=pb.IRT_BTNC), cluster(torus=True)).routing == "IRT_BTNC"


def test_ids_have_at_most_36_characters() -> None:
    check_id("partition", "a" * 36)
    for name in ["", "a" * 37, "a b", "ä", "a/b"]:
        with pytest.raises(Refusal):
            check_id("partition", name)


def test_an_agent_is_in_one_cluster_and_one_pod_only(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings = Settings(data=tmp_path_factory.getbasetemp(), token="t", machines=300)
    for region in (region for region in build_regions(settings).values() if region.under_vipu):
        fleet = Fleet(region, FleetChanges())
        agents = [agent.name for cluster in fleet.clusters.values() for agent in cluster.agents]
        assert len(agents) == len(set(agents)) == 300
        assert len({machine.rnic for machine in region.machines.values()}) == 300


def test_a_ring_goes_around_a_whole_torus() -> None:
    small = shape(16, ipulink_routing_type=pb.IRT_RINGSWNC)
    with pytest.raises(Refusal, match="a whole torus of 64 IPUs; the partition has 16"):
        with_routing(small, cluster(torus=True))
