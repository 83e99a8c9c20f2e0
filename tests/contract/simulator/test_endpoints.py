"""The user endpoint of an allocation: it knows nothing of others, and stays where it is while the allocation lives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import orjson
import pytest

from ipucloud.laboratory.simulator.tls import Authority
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_admin_pb2_grpc as admin_grpc
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_tenant_pb2 as tenant
from ipucloud.wire import vipu_tenant_pb2_grpc as tenant_grpc
from ipucloud.wire.vipu_calls import ALLOCATION
from tests.contract.simulator.outcomes import refusal
from tests.support.site import RunningSite, running_site
from tests.support.vipu import CALL_SECONDS, Caller, PodDriver, VipuDriver


@pytest.fixture
def two(vipu: PodDriver) -> VipuDriver:
    """The controller with an allocation `a` and one `b`, of a machine each."""
    for name, agent in zip("ab", vipu.pod, strict=False):
        vipu.allocate(name, vipu.cluster, [agent])
    return vipu


class Endpoint(Caller):
    def __init__(self, channel: grpc.Channel, allocation: str = "") -> None:
        super().__init__(channel, *([(ALLOCATION, allocation)] if allocation else []))
        self.tenant = tenant_grpc.TenantServiceStub(channel)

    def allocations(self) -> list[str]:
        request = tenant.ListAllocationsRequest()
        return [each.id for each in self.tenant.ListAllocations(request, timeout=CALL_SECONDS).allocations]


def about(name: str) -> list[tuple[str, Any]]:
    """The calls about one partition."""
    return [
        ("GetPartitionStatus", pb.GetPartitionStatusRequest(partition_id=name)),
        ("GetPartitionIpuofConfig", pb.GetPartitionIpuofConfigRequest(partition_id=name)),
        ("ResetPartition", pb.ResetPartitionRequest(partition_id=name)),
        ("RemovePartition", pb.RemovePartitionRequest(partition_id=name, force=True)),
    ]


def test_two_tenants_have_partitions_of_the_same_name(two: VipuDriver, shared_site: RunningSite) -> None:
    first, second = (Endpoint(shared_site.user_channel(name)) for name in "ab")
    first.create("p1")
    for method, request in about("p1"):
        assert refusal(second.call, method, request) == (
            grpc.StatusCode.NOT_FOUND,
            "partition 'p1' does not exist",
        )
    assert refusal(first.create, "p1")[0] is grpc.StatusCode.ALREADY_EXISTS
    second.create("p1")
    assert (first.partitions(), second.partitions()) == ([("a", "p1")], [("b", "p1")])
    second.call("RemovePartition", pb.RemovePartitionRequest(partition_id="p1"))
    assert (first.partitions(), second.partitions()) == ([("a", "p1")], [])


def test_what_others_have_does_not_exist(two: VipuDriver, shared_site: RunningSite, pod: list[str]) -> None:
    first, second = (Endpoint(shared_site.user_channel(name)) for name in "ab")
    assert (first.allocations(), second.allocations()) == (["a"], ["b"])
    assert refusal(second.create, "q", "a") == (grpc.StatusCode.NOT_FOUND, "allocation 'a' does not exist")
    agents = second.call("ListIPUAttributes", pb.ListIPUAttributesRequest()).entries
    assert [entry.agent for entry in agents] == [pod[1]]
    foreign = pb.ListIPUAttributesRequest(agents=[pod[0]])
    assert refusal(second.call, "ListIPUAttributes", foreign)[0] is grpc.StatusCode.NOT_FOUND
    first.create("p")
    code, sentence = refusal(first.create, "q")
    assert (code, "b has" in sentence) == (grpc.StatusCode.RESOURCE_EXHAUSTED, False)
    administration = admin_grpc.AdminServiceStub(shared_site.user_channel("a"))
    request = admin.ListAllocationsRequest()
    assert refusal(administration.ListAllocations, request)[0] is grpc.StatusCode.UNIMPLEMENTED


def test_the_administration_is_told_which_allocation_is_meant(two: VipuDriver, shared_site: RunningSite) -> None:
    everything = Endpoint(shared_site.channel())
    first, second = (Endpoint(shared_site.channel(), name) for name in "ab")
    first.create("p1")
    everything.call("GetPartitionStatus", pb.GetPartitionStatusRequest(partition_id="p1"))
    assert refusal(everything.create, "p1")[0] is grpc.StatusCode.ALREADY_EXISTS, "a repeat changes nothing"
    second.create("p1")
    assert (first.partitions(), everything.partitions()) == ([("a", "p1")], [("a", "p1"), ("b", "p1")])
    for method, request in about("p1"):
        code, sentence = refusal(everything.call, method, request)
        assert (code, ALLOCATION in sentence) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    assert refusal(first.create, "q", "b")[0] is grpc.StatusCode.NOT_FOUND
    second.call("RemovePartition", pb.RemovePartitionRequest(partition_id="p1"))
    assert everything.partitions() == [("a", "p1")]
    assert Endpoint(shared_site.channel(), "nobody's").partitions() == []


def test_an_endpoint_stays_where_it_is_and_ends_with_its_allocation(tmp_path: Path) -> None:
    with running_site(tmp_path, machines=4, options=["--machines-on"]) as site:
        vipu = PodDriver.at(site)
        for name, machine in zip("ab", vipu.pod, strict=False):
            vipu.allocate(name, vipu.cluster, [machine])
        Endpoint(site.user_channel("a")).create("p")
        before = [site.user_endpoint(name) for name in "ab"]
        assert len(set(before)) == 2
        site.revive()
        vipu = PodDriver.at(site)
        assert [site.user_endpoint(name) for name in "ab"] == before
        assert Endpoint(site.user_channel("a")).partitions() == [("a", "p")]

        lost, removed = site.user_channel("a"), site.user_channel("b")
        site.http().post("/v1/controllers/luxembourg-2:forget").raise_for_status()
        assert refusal(Endpoint(lost).partitions)[0] is grpc.StatusCode.UNAVAILABLE
        for name, machine in zip("ba", vipu.pod, strict=False):
            vipu.allocate(name, vipu.cluster, [machine])
        assert [site.user_endpoint(name) for name in "ab"] == before
        assert Endpoint(site.user_channel("a")).partitions() == []
        vipu.release("b")
        assert refusal(Endpoint(removed).allocations)[0] is grpc.StatusCode.UNAVAILABLE
        kept = orjson.loads((site.data / "site.json").read_bytes())["endpoints"]
        assert kept["luxembourg-2"].keys() == {"a"}


def test_an_endpoint_proves_itself_to_who_trusts_its_controller_alone(
    two: VipuDriver, shared_site: RunningSite, tmp_path: Path
) -> None:
    endpoint = shared_site.user_endpoint("a")
    address = f"{endpoint.host}:{endpoint.port}"
    foreign = Authority(tmp_path, "luxembourg-2", tmp_path / "clients", fsync=False)
    other = shared_site.authority("amsterdam-2")
    for channel in (
        grpc.insecure_channel(address),
        grpc.secure_channel(address, grpc.ssl_channel_credentials()),
        *(
            grpc.secure_channel(address, grpc.ssl_channel_credentials(each.certificate.encode()))
            for each in (foreign, other)
        ),
    ):
        assert refusal(Endpoint(channel).partitions)[0] is grpc.StatusCode.UNAVAILABLE
        channel.close()
    shared_site.http().post("/v1/controllers/luxembourg-2:replace-authority").raise_for_status()
    assert Endpoint(shared_site.user_channel("a")).partitions() == []
