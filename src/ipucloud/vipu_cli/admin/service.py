"""A V-IPU controller as its operator calls it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TypeVar

from google.protobuf.message import Message

from ipucloud.vipu_cli.controller import Controller
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire.vipu_calls import ALLOCATION

Reply = TypeVar("Reply", bound=Message)

SERVICE = "ipucloud.vipu.admin.v1.AdminService"


class AdminController(Controller):
    """With the calls of the administration service. Every call raises VipuProblem with the cause."""

    _allocation = ""

    def about(self, allocation: str) -> AdminController:
        """The same, for calls about partitions of one allocation; of any, if none is named."""
        scoped = copy(self)
        scoped._allocation = allocation
        return scoped

    async def agents(self) -> Sequence[admin.Agent]:
        return (await self._admin("ListAgents", admin.ListAgentsRequest(), admin.ListAgentsReply)).agents

    async def agent(self, name: str) -> admin.Agent:
        return (await self._admin("GetAgent", admin.GetAgentRequest(id=name), admin.GetAgentReply)).agent

    async def create_agent(self, name: str, host: str) -> None:
        await self._admin("CreateAgent", admin.CreateAgentRequest(id=name, host=host), admin.CreateAgentReply)

    async def remove_agent(self, name: str) -> None:
        await self._admin("RemoveAgent", admin.RemoveAgentRequest(id=name), admin.RemoveAgentReply)

    async def discover_agents(self) -> Sequence[admin.Agent]:
        """Machines that answer and are no agents yet."""
        return (await self._admin("DiscoverAgents", admin.DiscoverAgentsRequest(), admin.DiscoverAgentsReply)).agents

    async def clusters(self) -> Sequence[admin.Cluster]:
        return (await self._admin("ListClusters", admin.ListClustersRequest(), admin.ListClustersReply)).clusters

    async def cluster(self, name: str) -> admin.Cluster:
        return (await self._admin("GetCluster", admin.GetClusterRequest(id=name), admin.GetClusterReply)).cluster

    async def create_cluster(self, cluster: admin.Cluster) -> None:
        await self._admin("CreateCluster", admin.CreateClusterRequest(cluster=cluster), admin.CreateClusterReply)

    async def remove_cluster(self, name: str) -> None:
        await self._admin("RemoveCluster", admin.RemoveClusterRequest(id=name), admin.RemoveClusterReply)

    async def allocations(self) -> Sequence[admin.Allocation]:
        return (
            await self._admin("ListAllocations", admin.ListAllocationsRequest(), admin.ListAllocationsReply)
        ).allocations

    async def allocation(self, name: str) -> admin.Allocation:
        request = admin.GetAllocationRequest(id=name)
        return (await self._admin("GetAllocation", request, admin.GetAllocationReply)).allocation

    async def create_allocation(self, request: admin.CreateAllocationRequest) -> None:
        await self._admin("CreateAllocation", request, admin.CreateAllocationReply)

    async def remove_allocation(self, name: str) -> None:
        await self._admin("RemoveAllocation", admin.RemoveAllocationRequest(id=name), admin.RemoveAllocationReply)

    async def users(self) -> Sequence[admin.User]:
        return (await self._admin("ListUsers", admin.ListUsersRequest(), admin.ListUsersReply)).users

    async def create_user(self, name: str, allocations: Sequence[str]) -> None:
        """A user who sees these allocations, or all when none is named."""
        request = admin.CreateUserRequest(id=name, allocation_ids=allocations, all_allocations=not allocations)
        await self._admin("CreateUser", request, admin.CreateUserReply)

    async def create_access_key(self, user: str, key: str) -> str:
        """The secret of a new access key, which is shown only once."""
        request = admin.CreateAccessKeyRequest(user_id=user, id=key)
        return (await self._admin("CreateAccessKey", request, admin.CreateAccessKeyReply)).secret

    async def remove_user(self, name: str) -> None:
        await self._admin("RemoveUser", admin.RemoveUserRequest(id=name), admin.RemoveUserReply)

    async def start_test(self, test: str, allocation: str) -> None:
        request = admin.TestClusterRequest(id=test, allocation_id=allocation)
        await self._admin("TestCluster", request, admin.TestClusterReply)

    async def test(self, test: str) -> admin.ClusterTest:
        return (
            await self._admin("GetClusterTest", admin.GetClusterTestRequest(id=test), admin.GetClusterTestReply)
        ).test

    async def _admin(self, method: str, request: Message, reply: type[Reply]) -> Reply:
        return await self._call(SERVICE, method, request, reply)

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        metadata = super()._metadata()
        return (*metadata, (ALLOCATION, self._allocation)) if self._allocation else metadata
