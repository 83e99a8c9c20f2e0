"""A V-IPU controller over gRPC: its administration endpoint, which serves our administration service and Graphcore's
published user service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import grpc

from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.vipu import PartitionShape
from ipucloud.site import vipu_answers as answers
from ipucloud.site.calls import Call, Pace
from ipucloud.site.ports import Budget, SiteBusy, SiteRefused, SiteUnknown, VipuAddress
from ipucloud.site.tls import Connection, Credentials
from ipucloud.site.vipu_ports import (
    Agent,
    Allocation,
    ClusterTest,
    IpuofGcd,
    Link,
    Partition,
    PartitionRequest,
    PartitionStatus,
    Release,
    SeenPartition,
    Vipu,
    VipuUser,
)
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_admin_pb2_grpc as admin_grpc
from ipucloud.wire import vipu_pb2 as user
from ipucloud.wire import vipu_pb2_grpc as user_grpc
from ipucloud.wire.inventory import LinkState
from ipucloud.wire.vipu_calls import ACCESS_KEY, ALLOCATION, USER

Reply = TypeVar("Reply")
Value = TypeVar("Value")

_TOO_LARGE = "larger than max"
"""The gRPC library's message for an answer that is too large: the call may have taken effect."""

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
_SYNC_TYPES = {value: user.SyncType.Name(number) for number, value in answers.SYNC_TYPES.items()}
_ROUTINGS = {value: user.IpuLinkRoutingType.Name(number) for number, value in answers.ROUTINGS.items()}
_GATEWAY_ROUTINGS = {value: user.GatewayRoutingType.Name(number) for number, value in answers.GATEWAY_ROUTINGS.items()}


class GrpcVipu:
    """One controller for one reconcile pass: every call asks `budget` for its time right before it is sent."""

    def __init__(
        self,
        connection: Connection,
        call_timeout: float,
        budget: Budget,
        pace: Pace,
        *,
        credentials: Credentials | None = None,
        unsupported: str | None = None,
    ) -> None:
        # A connection that was replaced closes once nothing refers to it any more, so not under a pass that uses it.
        self._connection = connection
        self._version = user_grpc.VersionServiceStub(connection.channel)
        self._user = user_grpc.UserServiceStub(connection.channel)
        self._admin = admin_grpc.AdminServiceStub(connection.channel)
        self._call_timeout = call_timeout
        self._budget = budget
        self._pace = pace
        self._unsupported = unsupported
        self._metadata = () if credentials is None else ((USER, credentials.user), (ACCESS_KEY, credentials.key))

    async def release(self) -> Release | None:
        return await self._read(
            Call.GET_VERSION,
            self._version.GetVersion,
            user.VersionRequest(),
            lambda reply: answers.release(reply.version),
        )

    async def partition_status(self, allocation_id: str, partition_id: str) -> PartitionStatus | None:
        return await self._read(
            Call.GET_PARTITION_STATUS,
            self._user.GetPartitionStatus,
            user.GetPartitionStatusRequest(partition_id=partition_id),
            lambda reply: answers.partition_status(reply.status, partition_id),
            allocation_id,
        )

    async def list_partitions(self, allocation_id: str) -> Sequence[str]:
        names = await self._read(
            Call.LIST_PARTITIONS,
            self._user.ListPartitions,
            user.ListPartitionsRequest(allocation_id=allocation_id),
            lambda reply: answers.partition_names(reply.partitions, allocation_id),
            allocation_id,
        )
        return names or []

    async def all_partitions(self) -> Sequence[Partition]:
        partitions = await self._read(
            Call.LIST_PARTITIONS,
            self._user.ListPartitions,
            user.ListPartitionsRequest(),
            lambda reply: answers.every_partition(reply.partitions),
        )
        return partitions or []

    async def partitions_of(self, allocation_id: str) -> Sequence[SeenPartition]:
        partitions = await self._read(
            Call.LIST_PARTITIONS,
            self._user.ListPartitions,
            user.ListPartitionsRequest(allocation_id=allocation_id),
            lambda reply: answers.partition_details(reply.partitions, allocation_id),
            allocation_id,
        )
        return partitions or []

    async def create_partition(self, request: PartitionRequest) -> bool:
        requirements = user.PartitionRequirements(
            id=request.id,
            size=request.size,
            num_gcds=request.gcds,
            num_replicas=request.replicas or 0,
            num_ipulink_segments=request.segments or 0,
            reconfigurable=request.reconfigurable,
            sync_type=None if request.sync_type is None else _SYNC_TYPES[request.sync_type],
            ipulink_routing_type=None if request.routing is None else _ROUTINGS[request.routing],
            gw_routing_type=None if request.gateway_routing is None else _GATEWAY_ROUTINGS[request.gateway_routing],
            allocation_id=request.allocation_id,
        )
        call = user.CreatePartitionRequest(
            requirements=requirements, disable_auto_reset=not request.auto_reset, relocatable=request.relocatable
        )
        return await self._make(Call.CREATE_PARTITION, self._user.CreatePartition, call, request.allocation_id)

    async def reset_partition(self, allocation_id: str, partition_id: str, *, relocatable: bool) -> bool:
        request = user.ResetPartitionRequest(partition_id=partition_id, relocatable=relocatable)
        return await self._do(Call.RESET_PARTITION, self._user.ResetPartition, request, allocation_id)

    async def remove_partition(self, allocation_id: str, partition_id: str) -> None:
        request = user.RemovePartitionRequest(partition_id=partition_id, force=True)
        await self._do(Call.REMOVE_PARTITION, self._user.RemovePartition, request, allocation_id)

    async def ipuof_config(
        self, allocation_id: str, partition_id: str, shape: PartitionShape
    ) -> Sequence[IpuofGcd] | None:
        return await self._read(
            Call.GET_IPUOF_CONFIG,
            self._user.GetPartitionIpuofConfig,
            user.GetPartitionIpuofConfigRequest(partition_id=partition_id),
            lambda reply: answers.ipuof_gcds(reply.ipuof_config, shape),
            allocation_id,
        )

    async def allocation(self, allocation_id: str) -> Allocation | None:
        return await self._read(
            Call.GET_ALLOCATION,
            self._admin.GetAllocation,
            admin.GetAllocationRequest(id=allocation_id),
            lambda reply: answers.allocation(reply.allocation),
        )

    async def list_allocations(self, cluster_id: str) -> Sequence[Allocation]:
        allocations = await self._read(
            Call.LIST_ALLOCATIONS,
            self._admin.ListAllocations,
            admin.ListAllocationsRequest(cluster_id=cluster_id),
            lambda reply: answers.allocations(reply.allocations),
        )
        return allocations or []

    async def create_allocation(self, allocation: Allocation) -> None:
        request = admin.CreateAllocationRequest(
            id=allocation.id, cluster_id=allocation.cluster_id, agent_ids=sorted(allocation.agent_ids)
        )
        await self._make(Call.CREATE_ALLOCATION, self._admin.CreateAllocation, request)

    async def remove_allocation(self, allocation_id: str) -> None:
        request = admin.RemoveAllocationRequest(id=allocation_id)
        await self._do(Call.REMOVE_ALLOCATION, self._admin.RemoveAllocation, request)

    async def remove_partitions(self, allocation_id: str) -> None:
        request = admin.RemovePartitionsRequest(allocation_id=allocation_id)
        await self._do(Call.REMOVE_PARTITIONS, self._admin.RemovePartitions, request)

    async def cluster_test(self, test_id: str) -> ClusterTest | None:
        return await self._read(
            Call.GET_CLUSTER_TEST,
            self._admin.GetClusterTest,
            admin.GetClusterTestRequest(id=test_id),
            lambda reply: answers.cluster_test(reply.test),
        )

    async def start_cluster_test(self, test_id: str, allocation_id: str) -> None:
        await self._make(
            Call.TEST_CLUSTER,
            self._admin.TestCluster,
            admin.TestClusterRequest(id=test_id, allocation_id=allocation_id),
        )

    async def links(self, allocation_id: str) -> Sequence[Link]:
        links = await self._read(
            Call.LIST_LINKS,
            self._admin.ListLinks,
            admin.ListLinksRequest(allocation_id=allocation_id),
            lambda reply: answers.links(reply.links),
        )
        return links or []

    async def agents(self) -> Sequence[Agent]:
        agents = await self._read(
            Call.LIST_AGENTS,
            self._admin.ListAgents,
            admin.ListAgentsRequest(),
            lambda reply: answers.agents(reply.agents),
        )
        return agents or []

    async def impaired_links(self) -> Sequence[Link]:
        return [each for each in await self.links("") if each.state is not LinkState.UP]

    async def user(self, user_id: str) -> VipuUser | None:
        return await self._read(
            Call.GET_USER,
            self._admin.GetUser,
            admin.GetUserRequest(id=user_id),
            lambda reply: answers.user(reply.user, user_id),
        )

    async def list_users(self) -> Sequence[VipuUser]:
        users = await self._read(
            Call.LIST_USERS, self._admin.ListUsers, admin.ListUsersRequest(), lambda reply: answers.users(reply.users)
        )
        return users or []

    async def create_user(self, user_id: str) -> None:
        await self._make(Call.CREATE_USER, self._admin.CreateUser, admin.CreateUserRequest(id=user_id))

    async def set_user_allocation(self, user_id: str, allocation_id: str) -> None:
        request = admin.SetUserAllocationsRequest(id=user_id, allocation_ids=[allocation_id])
        await self._make(Call.SET_USER_ALLOCATIONS, self._admin.SetUserAllocations, request)

    async def remove_user(self, user_id: str) -> None:
        await self._do(Call.REMOVE_USER, self._admin.RemoveUser, admin.RemoveUserRequest(id=user_id))

    async def create_access_key(self, user_id: str, key_id: str, sha256: str) -> None:
        request = admin.CreateAccessKeyRequest(user_id=user_id, id=key_id, sha256=sha256)
        await self._make(Call.CREATE_ACCESS_KEY, self._admin.CreateAccessKey, request)

    async def remove_access_key(self, user_id: str, key_id: str) -> None:
        request = admin.RemoveAccessKeyRequest(user_id=user_id, id=key_id)
        await self._do(Call.REMOVE_ACCESS_KEY, self._admin.RemoveAccessKey, request)

    async def _read(
        self,
        call: Call,
        method: Callable[..., Awaitable[Reply]],
        request: Any,
        read: Callable[[Reply], Value],
        allocation_id: str = "",
    ) -> Value | None:
        """The result of `read` for the reply, or None when the controller returns NOT_FOUND."""
        try:
            reply = await self._ask(call, method, request, allocation_id)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return None
            raise self._site_error(call, error) from error
        try:
            return read(reply)
        except answers.InvalidAnswer as error:
            raise SiteUnknown(f"{call}: the answer is not valid: {error}") from error

    async def _do(
        self, call: Call, method: Callable[..., Awaitable[Reply]], request: Any, allocation_id: str = ""
    ) -> bool:
        """A call whose reply is empty; False when the controller returns NOT_FOUND."""
        return await self._read(call, method, request, lambda _: True, allocation_id) is not None

    async def _make(
        self, call: Call, method: Callable[..., Awaitable[Reply]], request: Any, allocation_id: str = ""
    ) -> bool:
        """A call that creates an object. False for ALREADY_EXISTS: an earlier attempt may have; it is read back."""
        try:
            await self._ask(call, method, request, allocation_id)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.ALREADY_EXISTS:
                raise self._site_error(call, error) from error
            return False
        return True

    async def _ask(
        self, call: Call, method: Callable[..., Awaitable[Reply]], request: Any, allocation_id: str
    ) -> Reply:
        """A call of the user service about one allocation, if it is named: no other exists for it."""
        connection = self._connection
        if connection.problem is not None:
            raise SiteUnknown(f"{call}: {connection.name}: {connection.problem}")
        if self._unsupported is not None and call is not Call.GET_VERSION:
            raise SiteUnknown(f"{call}: {connection.name}: {self._unsupported}")
        await self._pace.turn()
        seconds = min(self._call_timeout, self._budget())
        failpoint("site.before", call)
        metadata = (*self._metadata, (ALLOCATION, allocation_id)) if allocation_id else self._metadata
        try:
            reply: Reply | None = await method(request, timeout=seconds, metadata=metadata)
        finally:
            failpoint("site.after", call)
        if reply is None:  # how gRPC reports that the bytes are not such a message
            raise SiteUnknown(f"{call}: the answer cannot be read")
        return reply

    def _site_error(self, call: Call, error: grpc.aio.AioRpcError) -> SiteBusy | SiteUnknown | SiteRefused:
        code = error.code()
        details = error.details() or ""
        connection = self._connection
        if code is grpc.StatusCode.UNAVAILABLE and (cause := connection.failure(details)) is not None:
            return SiteUnknown(f"{call}: {connection.name}: {cause}")
        sentence = f"{call}: {code.name}: {answers.plain(details)}"
        if code in _REFUSALS or code is grpc.StatusCode.NOT_FOUND:
            return SiteRefused(sentence)
        if code is grpc.StatusCode.RESOURCE_EXHAUSTED and _TOO_LARGE not in details:
            return SiteBusy(sentence)
        return SiteUnknown(sentence)


async def users_with_allocation(vipu: Vipu, address: VipuAddress) -> frozenset[str] | None:
    """The users with a key who see the allocation of their own name, as clusters' users do; None: there are no users.

    Raises SiteError.
    """
    if not address.secure:
        return None
    users = await vipu.list_users()
    return frozenset(user.id for user in users if user.keys and (user.everything or user.id in user.allocations))
