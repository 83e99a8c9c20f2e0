"""The methods of the published services, from wire message to wire message. Names are the wire's."""

from __future__ import annotations

from ipucloud.laboratory.simulator.vipu.callers import Caller
from ipucloud.laboratory.simulator.vipu.controller import Controller
from ipucloud.laboratory.simulator.vipu.devices import VIPU_VERSION
from ipucloud.wire import vipu_pb2 as pb

# ruff: noqa: N802 - gRPC binds methods by the names of the published definition


class VersionMethods:
    """virmgrpc.VersionService."""

    def GetVersion(self, request: pb.VersionRequest, caller: Caller) -> pb.VersionReply:
        return pb.VersionReply(version=VIPU_VERSION)


class UserMethods:
    """virmgrpc.UserService."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def ListPartitions(self, request: pb.ListPartitionsRequest, caller: Caller) -> pb.ListPartitionsReply:
        partitions = self._controller.partitions.all(request.allocation_id, caller)
        return pb.ListPartitionsReply(partitions=[self._controller.view(p) for p in partitions])

    def ListIPUAttributes(self, request: pb.ListIPUAttributesRequest, caller: Caller) -> pb.ListIPUAttributesReply:
        return pb.ListIPUAttributesReply(entries=self._controller.ipu_attributes(request.agents, caller))

    def CreatePartition(self, request: pb.CreatePartitionRequest, caller: Caller) -> pb.CreatePartitionReply:
        return pb.CreatePartitionReply(partition_id=self._controller.partitions.create(request, caller).id)

    def RemovePartition(self, request: pb.RemovePartitionRequest, caller: Caller) -> pb.RemovePartitionReply:
        self._controller.partitions.remove(request.partition_id, caller, force=request.force)
        return pb.RemovePartitionReply()

    def ResetPartition(self, request: pb.ResetPartitionRequest, caller: Caller) -> pb.ResetPartitionReply:
        self._controller.partitions.reset(request.partition_id, caller, relocatable=request.relocatable)
        return pb.ResetPartitionReply()

    def GetPartitionIpuofConfig(
        self, request: pb.GetPartitionIpuofConfigRequest, caller: Caller
    ) -> pb.GetPartitionIpuofConfigReply:
        partition = self._controller.partitions.get(request.partition_id, caller)
        gcd = request.gcd_id.id if request.HasField("gcd_id") else None
        return pb.GetPartitionIpuofConfigReply(ipuof_config=self._controller.ipuof_config(partition, gcd))

    def GetPartitionStatus(self, request: pb.GetPartitionStatusRequest, caller: Caller) -> pb.GetPartitionStatusReply:
        partition = self._controller.partitions.get(request.partition_id, caller)
        return pb.GetPartitionStatusReply(status=self._controller.status(partition))
