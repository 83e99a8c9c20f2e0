"""A V-IPU controller as a test speaks to it: one method for a call, with the fields that tests set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import grpc

from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_admin_pb2_grpc as admin_grpc
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_pb2_grpc as pb_grpc
from tests.support.site import RunningSite
from tests.support.waiting import PATIENCE, eventually

CALL_SECONDS = PATIENCE


class VipuDriver:
    """Calls with a time-out, at the administration endpoint. A refusal raises grpc.RpcError."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.channel = channel
        self.user = pb_grpc.UserServiceStub(channel)
        self.version = pb_grpc.VersionServiceStub(channel)
        self.admin = admin_grpc.AdminServiceStub(channel)

    def allocate(self, name: str, cluster: str | None, agents: Sequence[str] = (), *, size: int = 0) -> list[str]:
        request = admin.CreateAllocationRequest(id=name, cluster_id=cluster, agent_ids=agents, size=size)
        reply: admin.CreateAllocationReply = self.admin.CreateAllocation(request, timeout=CALL_SECONDS)
        return list(reply.allocation.agent_ids)

    def allocations(self) -> dict[str, list[str]]:
        reply = self.admin.ListAllocations(admin.ListAllocationsRequest(), timeout=CALL_SECONDS)
        return {each.id: list(each.agent_ids) for each in reply.allocations}

    def release(self, name: str) -> None:
        self.admin.RemoveAllocation(admin.RemoveAllocationRequest(id=name), timeout=CALL_SECONDS)

    def create(self, name: str, size: int = 0, **requirements: Any) -> None:
        request = pb.PartitionRequirements(id=name, size=size, **requirements)
        self.user.CreatePartition(pb.CreatePartitionRequest(requirements=request), timeout=CALL_SECONDS)

    def create_and_give_up(self, name: str, size: int, arrived: Callable[[], bool]) -> None:
        """Ask for a partition, and cancel the call once the site has it; nothing is answered meanwhile."""
        request = pb.CreatePartitionRequest(requirements=pb.PartitionRequirements(id=name, size=size))
        call = self.user.CreatePartition.future(request, timeout=CALL_SECONDS)
        eventually(lambda: arrived() or call.done(), "the call arrives")
        assert call.cancel(), "it was answered"

    def remove(self, name: str, *, force: bool = True) -> None:
        self.user.RemovePartition(pb.RemovePartitionRequest(partition_id=name, force=force), timeout=CALL_SECONDS)

    def reset(self, name: str) -> None:
        self.user.ResetPartition(pb.ResetPartitionRequest(partition_id=name), timeout=CALL_SECONDS)

    def status(self, name: str) -> pb.PartitionStatus:
        request = pb.GetPartitionStatusRequest(partition_id=name)
        status: pb.PartitionStatus = self.user.GetPartitionStatus(request, timeout=CALL_SECONDS).status
        return status

    def partitions(self, allocation: str = "") -> dict[str, pb.Partition]:
        request = pb.ListPartitionsRequest(allocation_id=allocation)
        return {each.id: each for each in self.user.ListPartitions(request, timeout=CALL_SECONDS).partitions}

    def every_partition(self) -> list[pb.Partition]:
        """Those of all allocations, some of which may have the same id."""
        return list(self.user.ListPartitions(pb.ListPartitionsRequest(), timeout=CALL_SECONDS).partitions)

    def config(self, name: str, gcd: int | None = None) -> pb.PartitionConfig:
        request = pb.GetPartitionIpuofConfigRequest(partition_id=name)
        if gcd is not None:
            request.gcd_id.id = gcd
        config: pb.PartitionConfig = self.user.GetPartitionIpuofConfig(request, timeout=CALL_SECONDS).ipuof_config
        return config

    def silent_agents(self) -> list[str]:
        """The agents whose machine does not answer."""
        reply = self.admin.ListAgents(admin.ListAgentsRequest(), timeout=CALL_SECONDS)
        return [agent.id for agent in reply.agents if not agent.reachable]

    def clear(self) -> None:
        """Remove every partition and allocation of a controller on which everything is immediate."""
        for partition in self.every_partition():
            named = (("vipu-allocation", partition.spec.allocation_id),)
            request = pb.RemovePartitionRequest(partition_id=partition.id, force=True)
            self.user.RemovePartition(request, metadata=named, timeout=CALL_SECONDS)
        self.partitions()
        for allocation in self.allocations():
            self.release(allocation)


class PodDriver(VipuDriver):
    """The controller of a pod, whose machines are `pod`, in the order of their slots."""

    def __init__(self, channel: grpc.Channel, cluster: str, pod: Sequence[str]) -> None:
        super().__init__(channel)
        self.cluster = cluster
        self.pod = list(pod)

    @classmethod
    def at(cls, site: RunningSite, region: str = "luxembourg-2") -> Self:
        """That of a region's first pod."""
        pod = site.region(region).pods[0]
        return cls(site.channel(region), pod.cluster_id or "", [machine.name for machine in pod.machines])

    def take(self, count: int) -> list[str]:
        """An allocation `a` of the first so many machines."""
        return self.allocate("a", self.cluster, self.pod[:count])


class Caller:
    """Somebody without a client certificate at a user endpoint, with what else the calls carry."""

    def __init__(self, channel: grpc.Channel, *metadata: tuple[str, str]) -> None:
        self._stub = pb_grpc.UserServiceStub(channel)
        self.metadata = metadata

    def call(self, method: str, request: Any) -> Any:
        return getattr(self._stub, method)(request, timeout=CALL_SECONDS, metadata=self.metadata)

    def create(self, name: str, allocation: str = "") -> None:
        requirements = pb.PartitionRequirements(id=name, size=4, allocation_id=allocation)
        self.call("CreatePartition", pb.CreatePartitionRequest(requirements=requirements))

    def partitions(self, allocation: str = "") -> list[tuple[str, str]]:
        """Allocation and name of each."""
        entries = self.call("ListPartitions", pb.ListPartitionsRequest(allocation_id=allocation)).partitions
        return [(each.spec.allocation_id, each.id) for each in entries]


def code_of(error: grpc.RpcError) -> grpc.StatusCode:
    assert isinstance(error, grpc.Call)
    code: grpc.StatusCode = error.code()
    return code


def sentence_of(error: grpc.RpcError) -> str:
    assert isinstance(error, grpc.Call)
    return error.details() or ""
