"""The rules of a partition request as pure functions, beyond what `test_sixteen_rules.py` asks a controller."""

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


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32, 64])
def test_unset_fields_have_their_documented_meaning(size: int) -> None:
    default = shape(size)
    assert (default.gcds, default.replicas, default.segments) == (1, 1, 1)
    assert default.sync_type == "ST_POD_NATIVE_DEFAULT"


def test_the_number_of_domains_is_derived_from_the_size_or_fits_it() -> None:
    assert shape(256, num_gcds=4).segments == 4
    assert "at least 4 IPU-Link domains" in refusal(256, num_gcds=4, num_ipulink_segments=2).sentence
    assert refusal(16, num_gcds=4, num_ipulink_segments=3).reason is Reason.INVALID
    assert refusal(2, num_gcds=2, num_ipulink_segments=4).reason is Reason.INVALID


def test_reconfigurable_means_the_c2_compatible_sync_type() -> None:
    assert shape(4, reconfigurable=True).sync_type == "ST_GS2_DEFAULT"
    assert shape(4, reconfigurable=True, sync_type=pb.ST_GS2_DEFAULT).sync_type == "ST_GS2_DEFAULT"


def test_listed_ipus_give_the_size() -> None:
    ipus = [pb.PartitionIpu(topology_id=n) for n in range(2)]
    assert shape(ipus=ipus, cluster_id="c").size == 2
    assert refusal(4, ipus=ipus, cluster_id="c").reason is Reason.INVALID


def test_routing_follows_size_topology_and_gateways() -> None:
    several = shape(128, num_gcds=2)
    assert with_routing(shape(64), cluster(torus=True)).routing == "IRT_RINGSWNC"
    assert with_routing(shape(64), cluster(torus=False)).routing == "IRT_SWNC"
    assert with_routing(shape(32), cluster(torus=True)).routing == "IRT_DNC"
    assert with_routing(shape(16, ipulink_routing_type=pb.IRT_BTNC), cluster(torus=True)).routing == "IRT_BTNC"
    assert with_routing(several, cluster(torus=True, looped=True)).gw_routing == "GRT_RING"
    assert with_routing(several, cluster(torus=True, looped=False)).gw_routing == "GRT_SWRING"
    assert with_routing(shape(16), cluster(torus=True)).gw_routing == "GRT_UNDEFINED"


@pytest.mark.parametrize(
    ("routing", "on", "says"),
    [
        (shape(16, ipulink_routing_type=pb.IRT_RINGSWNC), cluster(torus=False), "."),
        (shape(16, ipulink_routing_type=pb.IRT_RINGSWNC), cluster(torus=True), "a whole torus of 64 IPUs; .* has 16"),
        (shape(16, gw_routing_type=pb.GRT_RING), cluster(torus=True, looped=False), "."),
        (shape(16, gw_routing_type=pb.GRT_SWRING), cluster(torus=True, looped=True), "."),
    ],
)
def test_routing_that_the_cluster_cannot_do_is_refused(routing: Shape, on: Cluster, says: str) -> None:
    with pytest.raises(Refusal, match=says):
        with_routing(routing, on)


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
