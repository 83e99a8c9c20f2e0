"""The methods of the services for users, from wire message to wire message. Names are the wire's."""

from __future__ import annotations

from ipucloud.laboratory.simulator.vipu.callers import Caller
from ipucloud.laboratory.simulator.vipu.controller import Controller
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_tenant_pb2 as tenant

# ruff: noqa: N802 - gRPC binds methods by the names of the published definition


class VersionMethods:
    """virmgrpc.VersionService."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller

    def GetVersion(self, request: pb.VersionRequest, caller: Caller) -> pb.VersionReply:
        return pb.VersionReply(version=self.controller.version)


class UserMethods:
    """virmgrpc.UserService."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller

    def ListPartitions(self, request: pb.ListPartitionsRequest, caller: Caller) -> pb.ListPartitionsReply:
        partitions = self.controller.partitions.all(request.allocation_id, caller)
        return pb.ListPartitionsReply(partitions=[self.controller.view(p) for p in partitions])

    def ListIPUAttributes(self, request: pb.ListIPUAttributesRequest, caller: Caller) -> pb.ListIPUAttributesReply:
        return pb.ListIPUAttributesReply(entries=self.controller.ipu_attributes(request.agents, caller))

    def CreatePartition(self, request: pb.CreatePartitionRequest, caller: Caller) -> pb.CreatePartitionReply:
        return pb.CreatePartitionReply(partition_id=self.controller.partitions.create(request, caller).id)

    def RemovePartition(self, request: pb.RemovePartitionRequest, caller: Caller) -> pb.RemovePartitionReply:
        self.controller.partitions.remove(request.partition_id, caller, force=request.force)
        return pb.RemovePartitionReply()

    def ResetPartition(self, request: pb.ResetPartitionRequest, caller: Caller) -> pb.ResetPartitionReply:
        self.controller.partitions.reset(request.partition_id, caller, relocatable=request.relocatable)
        return pb.ResetPartitionReply()

    def GetPartitionIpuofConfig(
        self, request: pb.GetPartitionIpuofConfigRequest, caller: Caller
    ) -> pb.GetPartitionIpuofConfigReply:
        partition = self.controller.partitions.get(request.partition_id, caller)
        gcd = request.gcd_id.id if request.HasField("gcd_id") else None
        return pb.GetPartitionIpuofConfigReply(ipuof_config=self.controller.ipuof_config(partition, gcd))

    def GetPartitionStatus(self, request: pb.GetPartitionStatusRequest, caller: Caller) -> pb.GetPartitionStatusReply:
        partition = self.controller.partitions.get(request.partition_id, caller)
        return pb.GetPartitionStatusReply(status=self.controller.status(partition))


class TenantMethods:
    """ipucloud.vipu.tenant.v1.TenantService."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller

    def ListAllocations(self, request: tenant.ListAllocationsRequest, caller: Caller) -> tenant.ListAllocationsReply:
        allocations = self.controller.allocations.all(caller=caller)
        return tenant.ListAllocationsReply(allocations=map(self.controller.allocation_view, allocations))
