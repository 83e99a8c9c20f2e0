"""Agents and clusters: what an administrator makes of the machines, and what the cabling does not allow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb
from tests.contract.simulator.outcomes import refusal
from tests.support.site import RunningSite, running_site
from tests.support.vipu import CALL_SECONDS, VipuDriver

REGION = "luxembourg-2"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    options = ["--machines-on", "--gateway-topology", "switched"]
    with running_site(tmp_path_factory.mktemp("clusters"), machines=48, options=options) as site:
        yield site


@pytest.fixture
def vipu(site: RunningSite) -> Iterator[VipuDriver]:
    """A controller whose one cluster was dissolved."""
    driver = VipuDriver(site.channel(REGION))
    dissolve(driver)
    yield driver
    driver.clear()
    dissolve(driver)


@pytest.fixture
def pods(site: RunningSite) -> list[list[str]]:
    return [[machine.name for machine in pod.machines] for pod in site.region(REGION).pods]


def dissolve(vipu: VipuDriver) -> None:
    for cluster in vipu.admin.ListClusters(admin.ListClustersRequest(), timeout=CALL_SECONDS).clusters:
        vipu.admin.RemoveCluster(admin.RemoveClusterRequest(id=cluster.id), timeout=CALL_SECONDS)
    for agent in vipu.admin.DiscoverAgents(admin.DiscoverAgentsRequest(), timeout=CALL_SECONDS).agents:
        vipu.admin.CreateAgent(admin.CreateAgentRequest(id=agent.id), timeout=CALL_SECONDS)


def join(vipu: VipuDriver, name: str, agents: list[str], **fields: Any) -> admin.Cluster:
    request = admin.CreateClusterRequest(cluster=admin.Cluster(id=name, agent_ids=agents, **fields))
    cluster: admin.Cluster = vipu.admin.CreateCluster(request, timeout=CALL_SECONDS).cluster
    return cluster


def test_a_cluster_is_what_its_cabling_makes_it(vipu: VipuDriver, pods: list[list[str]]) -> None:
    whole = join(vipu, "whole", pods[0] + pods[1])
    assert (whole.topology, whole.num_ipulink_domains) == (admin.TOPOLOGY_TORUS, 2)
    assert whole.gateway_topology == admin.GATEWAY_SWITCHED
    assert join(vipu, "part", pods[2][:4]).topology == admin.TOPOLOGY_MESH
    listed = vipu.admin.ListClusters(admin.ListClustersRequest(), timeout=CALL_SECONDS).clusters
    assert [(cluster.id, len(cluster.agent_ids)) for cluster in listed] == [("part", 4), ("whole", 32)]


def test_what_the_cabling_contradicts_is_refused(vipu: VipuDriver, pods: list[list[str]]) -> None:
    code, sentence = refusal(join, vipu, "c", pods[0][:4], topology=admin.TOPOLOGY_TORUS)
    assert (code, "torus" in sentence) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    code, sentence = refusal(join, vipu, "c", pods[0] + pods[1], gateway_topology=admin.GATEWAY_LOOPED)
    assert (code, "switched" in sentence) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    code, sentence = refusal(join, vipu, "c", pods[0], num_ipulink_domains=2)
    assert (code, "1 IPU-Link domains" in sentence) == (grpc.StatusCode.INVALID_ARGUMENT, True)
    code, sentence = refusal(join, vipu, "c", pods[0] + pods[2])
    assert (code, "not joined by GW-Links" in sentence) == (grpc.StatusCode.INVALID_ARGUMENT, True)


def test_an_agent_is_in_one_cluster_and_listed_once(vipu: VipuDriver, pods: list[list[str]]) -> None:
    join(vipu, "one", pods[0][:2])
    code, sentence = refusal(join, vipu, "two", pods[0][1:3])
    assert (code, "'one'" in sentence) == (grpc.StatusCode.INVALID_ARGUMENT, True)
    assert refusal(join, vipu, "two", [pods[1][0]] * 2)[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal(join, vipu, "two", [])[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal(join, vipu, "two", ["none"])[0] is grpc.StatusCode.NOT_FOUND
    assert refusal(join, vipu, "one", pods[1])[0] is grpc.StatusCode.ALREADY_EXISTS


def test_routing_follows_mesh_torus_and_switched_gateways(vipu: VipuDriver, pods: list[list[str]]) -> None:
    join(vipu, "mesh", pods[2], topology=admin.TOPOLOGY_MESH)
    join(vipu, "torus", pods[0] + pods[1])
    vipu.allocate("m", "mesh", size=16)
    vipu.allocate("t", "torus", size=32)
    vipu.create("p", 64, allocation_id="m")
    vipu.create("q", 128, allocation_id="t", num_gcds=2)
    specs = {name: partition.spec for name, partition in vipu.partitions().items()}
    assert (specs["p"].ipulink_routing_type, specs["p"].gw_routing_type) == (pb.IRT_SWNC, pb.GRT_UNDEFINED)
    assert (specs["q"].ipulink_routing_type, specs["q"].gw_routing_type) == (pb.IRT_RINGSWNC, pb.GRT_SWRING)
    assert {ipu.ipulink_domain_topology_id for ipu in specs["p"].ipus} == {0}
    assert {ipu.ipulink_domain_topology_id for ipu in specs["q"].ipus} == {0, 1}


def test_a_cluster_stays_while_it_holds_allocations(vipu: VipuDriver, pods: list[list[str]]) -> None:
    join(vipu, "c", pods[0])
    vipu.allocate("a", "c", size=1)
    remove = vipu.admin.RemoveCluster
    code, sentence = refusal(remove, admin.RemoveClusterRequest(id="c"))
    assert (code, "a" in sentence) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    vipu.release("a")
    remove(admin.RemoveClusterRequest(id="c"), timeout=CALL_SECONDS)
    assert refusal(remove, admin.RemoveClusterRequest(id="c"))[0] is grpc.StatusCode.NOT_FOUND


def test_agents_are_removed_discovered_and_created_again(vipu: VipuDriver, pods: list[list[str]]) -> None:
    name = pods[1][3]
    join(vipu, "c", pods[0])
    code, sentence = refusal(vipu.admin.RemoveAgent, admin.RemoveAgentRequest(id=pods[0][0]))
    assert (code, "'c'" in sentence) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    vipu.admin.RemoveAgent(admin.RemoveAgentRequest(id=name), timeout=CALL_SECONDS)
    assert refusal(vipu.admin.GetAgent, admin.GetAgentRequest(id=name))[0] is grpc.StatusCode.NOT_FOUND
    (agent,) = vipu.admin.DiscoverAgents(admin.DiscoverAgentsRequest(), timeout=CALL_SECONDS).agents
    assert (agent.id, agent.reachable) == (name, True)
    create = vipu.admin.CreateAgent
    wrong = admin.CreateAgentRequest(id=name, host="10.9.9.9")
    assert refusal(create, wrong)[0] is grpc.StatusCode.INVALID_ARGUMENT
    created = create(admin.CreateAgentRequest(id=name, host=agent.host), timeout=CALL_SECONDS).agent
    assert (created.id, created.cluster_id, created.pod, created.slot) == (name, "", agent.pod, 3)
    again = admin.CreateAgentRequest(id=name)
    assert refusal(create, again)[0] is grpc.StatusCode.ALREADY_EXISTS
    unknown = admin.CreateAgentRequest(id="none")
    assert refusal(create, unknown)[0] is grpc.StatusCode.NOT_FOUND


def test_an_agent_in_no_cluster_is_in_no_allocation(vipu: VipuDriver, pods: list[list[str]]) -> None:
    join(vipu, "c", pods[0])
    code, sentence = refusal(vipu.allocate, "a", "c", [pods[1][0]])
    assert (code, "no cluster" in sentence) == (grpc.StatusCode.INVALID_ARGUMENT, True)


def test_clusters_and_agents_survive_a_kill(tmp_path: Path) -> None:
    with running_site(tmp_path, options=["--machines-on"]) as site:
        vipu = VipuDriver(site.channel())
        names = [machine.name for machine in site.region().pods[0].machines]
        dissolve(vipu)
        vipu.admin.RemoveAgent(admin.RemoveAgentRequest(id=names[9]), timeout=CALL_SECONDS)
        cluster = join(vipu, "c", names[:8])
        site.revive()
        vipu = VipuDriver(site.channel())
        assert list(vipu.admin.ListClusters(admin.ListClustersRequest(), timeout=CALL_SECONDS).clusters) == [cluster]
        (gone,) = vipu.admin.DiscoverAgents(admin.DiscoverAgentsRequest(), timeout=CALL_SECONDS).agents
        assert gone.id == names[9]
