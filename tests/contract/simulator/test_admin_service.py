"""Our administrative service: agents, allocations and cluster tests."""

from __future__ import annotations

from uuid import UUID

import grpc
import httpx

from ipucloud.kernel.ids import external_name
from ipucloud.wire import vipu_admin_pb2 as admin
from tests.contract.simulator.outcomes import refusal
from tests.support.vipu import CALL_SECONDS, PodDriver, VipuDriver


def agents(vipu: VipuDriver, cluster: str = "") -> dict[str, admin.Agent]:
    reply = vipu.admin.ListAgents(admin.ListAgentsRequest(cluster_id=cluster), timeout=CALL_SECONDS)
    return {agent.id: agent for agent in reply.agents}


def test_agents_are_the_machines_of_the_inventory(vipu: PodDriver) -> None:
    listed = agents(vipu, vipu.cluster)
    assert len(listed) == 32
    assert [listed[name].slot for name in vipu.pod] == list(range(16))
    assert all(agent.reachable and not agent.allocation_id for agent in listed.values())


def test_an_allocation_by_agents(vipu: PodDriver) -> None:
    assert vipu.allocate("a", vipu.cluster, vipu.pod[4:8]) == vipu.pod[4:8]
    assert agents(vipu)[vipu.pod[5]].allocation_id == "a"
    allocation = vipu.admin.GetAllocation(admin.GetAllocationRequest(id="a"), timeout=CALL_SECONDS).allocation
    assert (allocation.cluster_id, list(allocation.agent_ids)) == (vipu.cluster, vipu.pod[4:8])


def test_an_allocation_by_size_takes_an_aligned_block(vipu: PodDriver) -> None:
    vipu.allocate("first", vipu.cluster, vipu.pod[:1])
    assert vipu.allocate("a", vipu.cluster, size=4) == vipu.pod[4:8]
    assert vipu.allocate("b", vipu.cluster, size=1) == vipu.pod[1:2]


def test_an_agent_is_in_one_allocation_only(vipu: PodDriver) -> None:
    vipu.take(4)
    code, sentence = refusal(vipu.allocate, "b", vipu.cluster, [vipu.pod[3]])
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "'a'" in sentence
    assert set(vipu.allocations()) == {"a"}


def test_bad_allocations_are_refused(vipu: PodDriver) -> None:
    vipu.take(1)
    assert refusal(vipu.allocate, "a", vipu.cluster, [vipu.pod[1]])[0] is grpc.StatusCode.ALREADY_EXISTS
    assert refusal(vipu.allocate, "b", vipu.cluster, [vipu.pod[1], vipu.pod[1]])[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal(vipu.allocate, "b", vipu.cluster, [])[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert refusal(vipu.allocate, "b", vipu.cluster, ["none"])[0] is grpc.StatusCode.NOT_FOUND
    assert refusal(vipu.allocate, "b", "none", [vipu.pod[1]])[0] is grpc.StatusCode.NOT_FOUND


def test_a_partition_without_an_allocation_is_in_any_as_published(vipu: PodDriver) -> None:
    """Whoever calls the administration endpoint must name one, so that no customer's IPUs are used.

    The definition says "unset: any available", and a partition is always in an allocation: the controller does not
    know which of them is whose.
    """
    customers = external_name(UUID(int=1), 1)
    vipu.allocate(customers, vipu.cluster, vipu.pod[:1])
    vipu.create("p", 4)
    assert [*vipu.partitions(customers)] == ["p"]
    vipu.allocate("operators", vipu.cluster, vipu.pod[4:5])
    vipu.create("q", 4, allocation_id="operators")
    assert [*vipu.partitions("operators")] == ["q"]


def test_an_allocation_with_partitions_stays(vipu: PodDriver) -> None:
    vipu.take(1)
    vipu.create("p", 4)
    code, sentence = refusal(vipu.release, "a")
    assert (code, "p" in sentence) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    vipu.remove("p")
    vipu.release("a")
    assert vipu.allocations() == {}


def test_an_allocation_is_emptied_by_its_name_alone(vipu: PodDriver) -> None:
    """Customers choose the names of partitions, and choose them again: a late request must not name any."""
    for name, machine in (("mine", vipu.pod[0]), ("theirs", vipu.pod[1])):
        vipu.allocate(name, vipu.cluster, [machine])
        vipu.create(f"training-{name}", 1, allocation_id=name)
    vipu.admin.RemovePartitions(admin.RemovePartitionsRequest(allocation_id="mine"), timeout=CALL_SECONDS)
    assert list(vipu.partitions()) == ["training-theirs"]
    vipu.release("mine")
    request = admin.RemovePartitionsRequest(allocation_id="mine")
    assert refusal(vipu.admin.RemovePartitions, request, timeout=CALL_SECONDS)[0] is grpc.StatusCode.NOT_FOUND


def cluster_test(vipu: VipuDriver, name: str) -> admin.ClusterTest:
    vipu.admin.TestCluster(admin.TestClusterRequest(id=name, allocation_id="a"), timeout=CALL_SECONDS)
    request = admin.GetClusterTestRequest(id=name)
    test: admin.ClusterTest = vipu.admin.GetClusterTest(request, timeout=CALL_SECONDS).test
    return test


def test_a_cluster_test_has_a_result_for_every_kind_and_link(vipu: PodDriver) -> None:
    vipu.take(4)
    test = cluster_test(vipu, "t")
    assert test.state == admin.TS_PASSED
    assert [result.kind for result in test.results] == [1, 2, 3, 4, 5]
    between = {(link.from_agent, link.to_agent) for link in test.results[1].links if link.from_agent != link.to_agent}
    assert between == {(vipu.pod[0], vipu.pod[1]), (vipu.pod[1], vipu.pod[2]), (vipu.pod[2], vipu.pod[3])}


def test_a_whole_pod_is_tested_as_a_ring(vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, vipu.pod)
    links = cluster_test(vipu, "t").results[4].links
    assert (vipu.pod[15], vipu.pod[0]) in {(link.from_agent, link.to_agent) for link in links}


def test_a_cluster_test_finds_the_links_of_a_broken_machine(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(4)
    http.post(f"/v1/machines/{vipu.pod[3]}:fail").raise_for_status()
    test = cluster_test(vipu, "t")
    failed = {(link.from_agent, link.to_agent) for link in test.results[3].links if not link.passed}
    assert test.state == admin.TS_FAILED
    assert failed == {(vipu.pod[2], vipu.pod[3]), (vipu.pod[3], vipu.pod[3])}


def test_machines_in_use_are_not_tested(vipu: PodDriver) -> None:
    vipu.take(2)
    vipu.create("p", 4, allocation_id="a")
    code, sentence = refusal(cluster_test, vipu, "t")
    assert (code, "would disturb what uses them" in sentence) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    vipu.remove("p")
    assert cluster_test(vipu, "t").state == admin.TS_PASSED
    assert refusal(cluster_test, vipu, "t")[0] is grpc.StatusCode.ALREADY_EXISTS, "it is not repeated"
