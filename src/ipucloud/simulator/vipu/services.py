"""The methods of the three services, from wire message to wire message. Names are the wire's."""

from __future__ import annotations

from ipucloud.simulator.vipu.cluster_tests import KINDS
from ipucloud.simulator.vipu.controller import Controller
from ipucloud.simulator.vipu.devices import VIPU_VERSION
from ipucloud.simulator.vipu.model import Allocation, ClusterTest, KindResult
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb

# ruff: noqa: N802 - gRPC binds methods by the names of the published definition


class VersionMethods:
    """virmgrpc.VersionService."""

    @staticmethod
    def GetVersion(request: pb.VersionRequest) -> pb.VersionReply:  # noqa: ARG004
        return pb.VersionReply(version=VIPU_VERSION)


class UserMethods:
    """virmgrpc.UserService."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._partitions = controller.partitions

    def ListPartitions(self, request: pb.ListPartitionsRequest) -> pb.ListPartitionsReply:
        partitions = self._partitions.all(request.allocation_id)
        return pb.ListPartitionsReply(partitions=[self._controller.view(p) for p in partitions])

    def ListIPUAttributes(self, request: pb.ListIPUAttributesRequest) -> pb.ListIPUAttributesReply:
        return pb.ListIPUAttributesReply(entries=self._controller.ipu_attributes(request.agents))

    def CreatePartition(self, request: pb.CreatePartitionRequest) -> pb.CreatePartitionReply:
        return pb.CreatePartitionReply(partition_id=self._partitions.create(request).id)

    def RemovePartition(self, request: pb.RemovePartitionRequest) -> pb.RemovePartitionReply:
        self._partitions.remove(request.partition_id, force=request.force)
        return pb.RemovePartitionReply()

    def ResetPartition(self, request: pb.ResetPartitionRequest) -> pb.ResetPartitionReply:
        self._partitions.reset(request.partition_id, relocatable=request.relocatable)
        return pb.ResetPartitionReply()

    def GetPartitionIpuofConfig(self, request: pb.GetPartitionIpuofConfigRequest) -> pb.GetPartitionIpuofConfigReply:
        partition = self._partitions.get(request.partition_id)
        gcd = request.gcd_id.id if request.HasField("gcd_id") else None
        return pb.GetPartitionIpuofConfigReply(ipuof_config=self._controller.ipuof_config(partition, gcd))

    def GetPartitionStatus(self, request: pb.GetPartitionStatusRequest) -> pb.GetPartitionStatusReply:
        partition = self._partitions.get(request.partition_id)
        return pb.GetPartitionStatusReply(status=self._controller.status(partition))


class AdminMethods:
    """ipucloud.vipu.admin.v1.AdminService."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._allocations = controller.allocations
        self._tests = controller.tests

    def ListAgents(self, request: admin.ListAgentsRequest) -> admin.ListAgentsReply:
        names = self._controller.agent_names(request.cluster_id)
        return admin.ListAgentsReply(agents=[self._agent(name) for name in names])

    def CreateAllocation(self, request: admin.CreateAllocationRequest) -> admin.CreateAllocationReply:
        allocation = self._allocations.create(request.id, request.cluster_id, request.agent_ids, request.size)
        return admin.CreateAllocationReply(allocation=_allocation(allocation))

    def GetAllocation(self, request: admin.GetAllocationRequest) -> admin.GetAllocationReply:
        return admin.GetAllocationReply(allocation=_allocation(self._allocations.get(request.id)))

    def ListAllocations(self, request: admin.ListAllocationsRequest) -> admin.ListAllocationsReply:
        allocations = self._allocations.all(request.cluster_id)
        return admin.ListAllocationsReply(allocations=[_allocation(a) for a in allocations])

    def RemoveAllocation(self, request: admin.RemoveAllocationRequest) -> admin.RemoveAllocationReply:
        self._allocations.remove(request.id)
        return admin.RemoveAllocationReply()

    def RemovePartitions(self, request: admin.RemovePartitionsRequest) -> admin.RemovePartitionsReply:
        for partition in self._controller.partitions.all(self._allocations.get(request.allocation_id).id):
            self._controller.partitions.remove(partition.id, force=True)
        return admin.RemovePartitionsReply()

    def TestCluster(self, request: admin.TestClusterRequest) -> admin.TestClusterReply:
        kinds = [KINDS[kind - 1] if 0 < kind <= len(KINDS) else str(kind) for kind in request.kinds]
        return admin.TestClusterReply(id=self._tests.start(request.id, request.allocation_id, kinds).id)

    def GetClusterTest(self, request: admin.GetClusterTestRequest) -> admin.GetClusterTestReply:
        return admin.GetClusterTestReply(test=_cluster_test(self._tests.get(request.id)))

    def _agent(self, name: str) -> admin.Agent:
        cluster_id, pod, slot = self._controller.agent_place(name)
        return admin.Agent(
            id=name,
            cluster_id=cluster_id,
            pod=pod,
            slot=slot,
            allocation_id=self._allocations.owner_of(name) or "",
            reachable=self._controller.reachable(name),
        )


def _allocation(allocation: Allocation) -> admin.Allocation:
    return admin.Allocation(id=allocation.id, cluster_id=allocation.cluster_id, agent_ids=allocation.agent_ids)


def _cluster_test(test: ClusterTest) -> admin.ClusterTest:
    if test.due is not None:
        running = [admin.TestResult(kind=kind, state="TS_RUNNING") for kind in test.kinds]
        return admin.ClusterTest(id=test.id, allocation_id=test.allocation_id, state="TS_RUNNING", results=running)
    return admin.ClusterTest(
        id=test.id,
        allocation_id=test.allocation_id,
        state=_state(all(result.passed for result in test.results)),
        results=[_result(result) for result in test.results],
    )


def _result(result: KindResult) -> admin.TestResult:
    return admin.TestResult(
        kind=result.kind,
        state=_state(result.passed),
        detail=result.detail,
        links=[
            admin.LinkResult(from_agent=link.from_agent, to_agent=link.to_agent, passed=link.passed, detail=link.detail)
            for link in result.links
        ],
    )


def _state(passed: bool) -> str:
    return "TS_PASSED" if passed else "TS_FAILED"
