"""Our administrative service: agents, allocations and cluster tests."""

from __future__ import annotations

import grpc
import httpx
import pytest

from ipucloud.wire import vipu_admin_pb2 as admin
from tests.support.vipu import CALL_SECONDS, VipuDriver, code_of, sentence_of


def refused(vipu: VipuDriver, name: str, cluster: str, *agents: str, size: int = 0) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        vipu.allocate(name, cluster, agents, size=size)
    return code_of(caught.value), sentence_of(caught.value)


def agents(vipu: VipuDriver, cluster: str = "") -> dict[str, admin.Agent]:
    reply = vipu.admin.ListAgents(admin.ListAgentsRequest(cluster_id=cluster), timeout=CALL_SECONDS)
    return {agent.id: agent for agent in reply.agents}


def test_agents_are_the_machines_of_the_inventory(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    listed = agents(vipu, cluster_id)
    assert len(listed) == 32
    assert [listed[name].slot for name in pod] == list(range(16))
    assert all(agent.reachable and not agent.allocation_id for agent in listed.values())


def test_an_allocation_by_agents(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    assert vipu.allocate("a", cluster_id, pod[4:8]) == pod[4:8]
    assert agents(vipu)[pod[5]].allocation_id == "a"
    allocation = vipu.admin.GetAllocation(admin.GetAllocationRequest(id="a"), timeout=CALL_SECONDS).allocation
    assert (allocation.cluster_id, list(allocation.agent_ids)) == (cluster_id, pod[4:8])


def test_an_allocation_by_size_takes_an_aligned_block(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("first", cluster_id, pod[:1])
    assert vipu.allocate("a", cluster_id, size=4) == pod[4:8]
    assert vipu.allocate("b", cluster_id, size=1) == pod[1:2]


def test_an_allocation_by_size_takes_whole_neighbouring_domains(vipu: VipuDriver, cluster_id: str) -> None:
    assert len(vipu.allocate("a", cluster_id, size=32)) == 32
    code, sentence = refused(vipu, "b", cluster_id, size=1)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "no free allocation" in sentence


def test_an_allocation_of_odd_size_gets_whole_machines(vipu: VipuDriver, cluster_id: str) -> None:
    assert len(vipu.allocate("a", cluster_id, size=3)) == 3


def test_an_agent_is_in_one_allocation_only(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:4])
    code, sentence = refused(vipu, "b", cluster_id, pod[3])
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "'a'" in sentence
    assert set(vipu.allocations()) == {"a"}


def test_bad_allocations_are_refused(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    assert refused(vipu, "a", cluster_id, pod[1])[0] is grpc.StatusCode.ALREADY_EXISTS
    assert refused(vipu, "b", cluster_id, pod[1], pod[1])[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert refused(vipu, "b", cluster_id)[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert refused(vipu, "b", cluster_id, "none")[0] is grpc.StatusCode.NOT_FOUND
    assert refused(vipu, "b", "none", pod[1])[0] is grpc.StatusCode.NOT_FOUND


def test_an_allocation_with_partitions_stays(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    vipu.create("p", 4)
    with pytest.raises(grpc.RpcError) as caught:
        vipu.release("a")
    assert code_of(caught.value) is grpc.StatusCode.FAILED_PRECONDITION
    assert "p" in sentence_of(caught.value)
    vipu.remove("p")
    vipu.release("a")
    assert vipu.allocations() == {}


def test_an_allocation_is_emptied_by_its_name_alone(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    """Customers choose the names of partitions, and choose them again: a late request must not name any."""
    for name, machine in (("mine", pod[0]), ("theirs", pod[1])):
        vipu.allocate(name, cluster_id, [machine])
        vipu.create(f"training-{name}", 1, allocation_id=name)
    vipu.admin.RemovePartitions(admin.RemovePartitionsRequest(allocation_id="mine"), timeout=CALL_SECONDS)
    assert list(vipu.partitions()) == ["training-theirs"]
    vipu.release("mine")
    with pytest.raises(grpc.RpcError) as caught:
        vipu.admin.RemovePartitions(admin.RemovePartitionsRequest(allocation_id="mine"), timeout=CALL_SECONDS)
    assert code_of(caught.value) is grpc.StatusCode.NOT_FOUND


def cluster_test(vipu: VipuDriver, name: str) -> admin.ClusterTest:
    vipu.admin.TestCluster(admin.TestClusterRequest(id=name, allocation_id="a"), timeout=CALL_SECONDS)
    request = admin.GetClusterTestRequest(id=name)
    test: admin.ClusterTest = vipu.admin.GetClusterTest(request, timeout=CALL_SECONDS).test
    return test


def test_a_cluster_test_has_a_result_for_every_kind_and_link(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:4])
    test = cluster_test(vipu, "t")
    assert test.state == admin.TS_PASSED
    assert [result.kind for result in test.results] == [1, 2, 3, 4, 5]
    between = {(link.from_agent, link.to_agent) for link in test.results[1].links if link.from_agent != link.to_agent}
    assert between == {(pod[0], pod[1]), (pod[1], pod[2]), (pod[2], pod[3])}


def test_a_whole_pod_is_tested_as_a_ring(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod)
    links = cluster_test(vipu, "t").results[4].links
    assert (pod[15], pod[0]) in {(link.from_agent, link.to_agent) for link in links}


def test_a_cluster_test_finds_the_links_of_a_broken_machine(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:4])
    http.post(f"/v1/machines/{pod[3]}:fail").raise_for_status()
    test = cluster_test(vipu, "t")
    failed = {(link.from_agent, link.to_agent) for link in test.results[3].links if not link.passed}
    assert test.state == admin.TS_FAILED
    assert failed == {(pod[2], pod[3]), (pod[3], pod[3])}


def test_a_cluster_test_of_a_known_id_is_not_repeated(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    cluster_test(vipu, "t")
    with pytest.raises(grpc.RpcError) as caught:
        cluster_test(vipu, "t")
    assert code_of(caught.value) is grpc.StatusCode.ALREADY_EXISTS


def test_machines_in_use_are_not_tested(vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:2])
    vipu.create("p", 4, allocation_id="a")
    with pytest.raises(grpc.RpcError) as caught:
        cluster_test(vipu, "t")
    assert code_of(caught.value) is grpc.StatusCode.FAILED_PRECONDITION
    assert "would disturb what uses them" in sentence_of(caught.value)
    vipu.remove("p")
    assert cluster_test(vipu, "t").state == admin.TS_PASSED
