"""A V-IPU controller over gRPC: Graphcore's published user service and our administration service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import grpc

from ipucloud.kernel.failpoints import failpoint
from ipucloud.site.calls import Call
from ipucloud.site.errors import SiteBusy, SiteRefused, SiteUnknown
from ipucloud.site.pace import Pace
from ipucloud.site.ports import (
    Allocation,
    Budget,
    ClusterTest,
    Partition,
    PartitionRequest,
    PartitionState,
    PartitionStatus,
    TestState,
)
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_admin_pb2_grpc as admin_grpc
from ipucloud.wire import vipu_pb2 as user
from ipucloud.wire import vipu_pb2_grpc as user_grpc

Reply = TypeVar("Reply")

_REFUSALS = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)
_PARTITION_STATES: dict[int, PartitionState] = {
    user.PS_PENDING: PartitionState.PENDING,
    user.PS_ACTIVE: PartitionState.ACTIVE,
    user.PS_REMOVED: PartitionState.REMOVED,
    user.PS_ERROR: PartitionState.ERROR,
}
_TEST_STATES = {admin.TS_RUNNING: TestState.RUNNING, admin.TS_PASSED: TestState.PASSED}


class GrpcVipu:
    """One controller for the length of one look: every call asks `budget` for its time right before it is sent."""

    def __init__(
        self,
        user_channel: grpc.aio.Channel,
        admin_channel: grpc.aio.Channel,
        call_timeout: float,
        budget: Budget,
        pace: Pace,
    ) -> None:
        self._user = user_grpc.UserServiceStub(user_channel)
        self._admin = admin_grpc.AdminServiceStub(admin_channel)
        self._call_timeout = call_timeout
        self._budget = budget
        self._pace = pace

    async def partition_status(self, partition_id: str) -> PartitionStatus | None:
        reply = await self._read(
            Call.GET_PARTITION_STATUS,
            self._user.GetPartitionStatus,
            user.GetPartitionStatusRequest(partition_id=partition_id),
        )
        if reply is None:
            return None
        return PartitionStatus(_partition_state(reply.status.ready_state), tuple(reply.status.errors))

    async def list_partitions(self, allocation_id: str) -> Sequence[str]:
        reply = await self._read(
            Call.LIST_PARTITIONS, self._user.ListPartitions, user.ListPartitionsRequest(allocation_id=allocation_id)
        )
        return [] if reply is None else [partition.id for partition in reply.partitions]

    async def all_partitions(self) -> Sequence[Partition]:
        reply = await self._read(Call.LIST_PARTITIONS, self._user.ListPartitions, user.ListPartitionsRequest())
        if reply is None:
            return []
        return [
            Partition(found.id, found.spec.allocation_id, _partition_state(found.ready_state))
            for found in reply.partitions
        ]

    async def create_partition(self, request: PartitionRequest) -> None:
        wanted = user.PartitionRequirements(
            id=request.id,
            size=request.size,
            num_gcds=request.gcds,
            reconfigurable=request.reconfigurable,
            allocation_id=request.allocation_id,
        )
        await self._make(
            Call.CREATE_PARTITION, self._user.CreatePartition, user.CreatePartitionRequest(requirements=wanted)
        )

    async def allocation(self, allocation_id: str) -> Allocation | None:
        reply = await self._read(
            Call.GET_ALLOCATION, self._admin.GetAllocation, admin.GetAllocationRequest(id=allocation_id)
        )
        return None if reply is None else _allocation(reply.allocation)

    async def list_allocations(self, cluster_id: str) -> Sequence[Allocation]:
        reply = await self._read(
            Call.LIST_ALLOCATIONS, self._admin.ListAllocations, admin.ListAllocationsRequest(cluster_id=cluster_id)
        )
        return [] if reply is None else [_allocation(found) for found in reply.allocations]

    async def create_allocation(self, allocation: Allocation) -> None:
        request = admin.CreateAllocationRequest(
            id=allocation.id, cluster_id=allocation.cluster_id, agent_ids=sorted(allocation.agent_ids)
        )
        await self._make(Call.CREATE_ALLOCATION, self._admin.CreateAllocation, request)

    async def remove_allocation(self, allocation_id: str) -> None:
        await self._read(
            Call.REMOVE_ALLOCATION, self._admin.RemoveAllocation, admin.RemoveAllocationRequest(id=allocation_id)
        )

    async def remove_partitions(self, allocation_id: str) -> None:
        request = admin.RemovePartitionsRequest(allocation_id=allocation_id)
        await self._read(Call.REMOVE_PARTITIONS, self._admin.RemovePartitions, request)

    async def cluster_test(self, test_id: str) -> ClusterTest | None:
        reply = await self._read(
            Call.GET_CLUSTER_TEST, self._admin.GetClusterTest, admin.GetClusterTestRequest(id=test_id)
        )
        if reply is None:
            return None
        failures = tuple(
            f"test {result.kind} of {link.from_agent} and {link.to_agent}: {link.detail}"
            for result in reply.test.results
            for link in result.links
            if not link.passed
        )
        return ClusterTest(_TEST_STATES.get(reply.test.state, TestState.FAILED), failures)

    async def start_cluster_test(self, test_id: str, allocation_id: str) -> None:
        await self._make(
            Call.TEST_CLUSTER,
            self._admin.TestCluster,
            admin.TestClusterRequest(id=test_id, allocation_id=allocation_id),
        )

    async def _read(self, call: Call, method: Callable[..., Awaitable[Reply]], request: Any) -> Reply | None:
        """The reply, or None when the controller says NOT_FOUND."""
        try:
            return await self._ask(call, method, request)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return None
            raise _site_error(call, error) from error

    async def _make(self, call: Call, method: Callable[..., Awaitable[Reply]], request: Any) -> None:
        """A call that brings something about. ALREADY_EXISTS: an earlier try did, and the next look checks what."""
        try:
            await self._ask(call, method, request)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.ALREADY_EXISTS:
                raise _site_error(call, error) from error

    async def _ask(self, call: Call, method: Callable[..., Awaitable[Reply]], request: Any) -> Reply:
        await self._pace.turn()
        seconds = min(self._call_timeout, self._budget())
        failpoint("site.before", call)
        try:
            return await method(request, timeout=seconds)
        finally:
            failpoint("site.after", call)


def _partition_state(ready_state: int) -> PartitionState:
    return _PARTITION_STATES.get(ready_state, PartitionState.UNKNOWN)


def _allocation(found: admin.Allocation) -> Allocation:
    return Allocation(found.id, found.cluster_id, frozenset(found.agent_ids))


def _site_error(call: Call, error: grpc.aio.AioRpcError) -> SiteBusy | SiteUnknown | SiteRefused:
    code = error.code()
    sentence = f"{call}: {code.name}: {(error.details() or '')[:300]}"
    if code in _REFUSALS or code is grpc.StatusCode.NOT_FOUND:
        return SiteRefused(sentence)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return SiteBusy(sentence)
    return SiteUnknown(sentence)
