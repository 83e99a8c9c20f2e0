"""The methods of our administrative service, from wire message to wire message. Names are the wire's."""

from __future__ import annotations

from collections.abc import Iterable

from ipucloud.laboratory.simulator.hardware import Machine
from ipucloud.laboratory.simulator.ports import PortTaken
from ipucloud.laboratory.simulator.refusal import exhausted, precondition
from ipucloud.laboratory.simulator.vipu.allocations import Allocations
from ipucloud.laboratory.simulator.vipu.callers import Caller
from ipucloud.laboratory.simulator.vipu.cluster_tests import KINDS, ClusterTests
from ipucloud.laboratory.simulator.vipu.clusters import Clusters
from ipucloud.laboratory.simulator.vipu.controller import Controller
from ipucloud.laboratory.simulator.vipu.devices import agent_properties
from ipucloud.laboratory.simulator.vipu.links import Link
from ipucloud.laboratory.simulator.vipu.model import Allocation, ClusterTest, KindResult, User
from ipucloud.laboratory.simulator.vipu.topology import Cluster
from ipucloud.laboratory.simulator.vipu.users import Users
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire.inventory import LinkState

# ruff: noqa: N802 - gRPC binds methods by the names of the definition


class AdminMethods:
    """ipucloud.vipu.admin.v1.AdminService. Its callers are administrators: they see everything."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller

    # A controller that forgets has other parts than before.

    @property
    def _clusters(self) -> Clusters:
        return self.controller.clusters

    @property
    def _allocations(self) -> Allocations:
        return self.controller.allocations

    @property
    def _users(self) -> Users:
        return self.controller.users

    @property
    def _tests(self) -> ClusterTests:
        return self.controller.tests

    def ListAgents(self, request: admin.ListAgentsRequest, caller: Caller) -> admin.ListAgentsReply:
        return admin.ListAgentsReply(agents=map(self._agent, self.controller.agents(request.cluster_id)))

    def GetAgent(self, request: admin.GetAgentRequest, caller: Caller) -> admin.GetAgentReply:
        machine = self._clusters.agent(request.id)
        agent = self._agent(machine)
        agent.properties.update(agent_properties(machine))
        return admin.GetAgentReply(agent=agent)

    def CreateAgent(self, request: admin.CreateAgentRequest, caller: Caller) -> admin.CreateAgentReply:
        return admin.CreateAgentReply(agent=self._agent(self._clusters.create_agent(request.id, request.host)))

    def RemoveAgent(self, request: admin.RemoveAgentRequest, caller: Caller) -> admin.RemoveAgentReply:
        self._clusters.remove_agent(request.id)
        return admin.RemoveAgentReply()

    def DiscoverAgents(self, request: admin.DiscoverAgentsRequest, caller: Caller) -> admin.DiscoverAgentsReply:
        return admin.DiscoverAgentsReply(agents=map(self._agent, self._clusters.discover()))

    def CreateCluster(self, request: admin.CreateClusterRequest, caller: Caller) -> admin.CreateClusterReply:
        spec = request.cluster
        cluster = self._clusters.create(
            spec.id,
            spec.agent_ids,
            torus=_choice(spec.topology, admin.TOPOLOGY_TORUS),
            domains=spec.num_ipulink_domains,
            looped=_choice(spec.gateway_topology, admin.GATEWAY_LOOPED),
        )
        return admin.CreateClusterReply(cluster=_cluster(cluster))

    def GetCluster(self, request: admin.GetClusterRequest, caller: Caller) -> admin.GetClusterReply:
        return admin.GetClusterReply(cluster=_cluster(self._clusters.get(request.id)))

    def ListClusters(self, request: admin.ListClustersRequest, caller: Caller) -> admin.ListClustersReply:
        return admin.ListClustersReply(clusters=map(_cluster, self._clusters.all()))

    def RemoveCluster(self, request: admin.RemoveClusterRequest, caller: Caller) -> admin.RemoveClusterReply:
        self._clusters.remove(request.id)
        return admin.RemoveClusterReply()

    def CreateAllocation(self, request: admin.CreateAllocationRequest, caller: Caller) -> admin.CreateAllocationReply:
        allocation = self._allocations.create(request.id, request.cluster_id, request.agent_ids, request.size)
        try:
            self.controller.endpoints.open(allocation.id)
        except PortTaken as problem:
            self._allocations.remove(allocation.id)
            raise exhausted(str(problem)) from problem
        return admin.CreateAllocationReply(allocation=self._view(allocation))

    def GetAllocation(self, request: admin.GetAllocationRequest, caller: Caller) -> admin.GetAllocationReply:
        return admin.GetAllocationReply(allocation=self._view(self._allocations.get(request.id)))

    def ListAllocations(self, request: admin.ListAllocationsRequest, caller: Caller) -> admin.ListAllocationsReply:
        allocations = self._allocations.all(request.cluster_id)
        return admin.ListAllocationsReply(allocations=map(self._view, allocations))

    def RemoveAllocation(self, request: admin.RemoveAllocationRequest, caller: Caller) -> admin.RemoveAllocationReply:
        self._allocations.remove(request.id)
        self.controller.endpoints.close(request.id)
        return admin.RemoveAllocationReply()

    def RemovePartitions(self, request: admin.RemovePartitionsRequest, caller: Caller) -> admin.RemovePartitionsReply:
        allocation = self._allocations.get(request.allocation_id).id
        for partition in self.controller.partitions.all(allocation):
            self.controller.partitions.remove(partition.id, caller.within(allocation), force=True)
        return admin.RemovePartitionsReply()

    def CreateUser(self, request: admin.CreateUserRequest, caller: Caller) -> admin.CreateUserReply:
        user = self._users.create(request.id, request.allocation_ids, everything=request.all_allocations)
        return admin.CreateUserReply(user=_user(user))

    def GetUser(self, request: admin.GetUserRequest, caller: Caller) -> admin.GetUserReply:
        return admin.GetUserReply(user=_user(self._users.get(request.id)))

    def ListUsers(self, request: admin.ListUsersRequest, caller: Caller) -> admin.ListUsersReply:
        return admin.ListUsersReply(users=map(_user, self._users.all()))

    def SetUserAllocations(
        self, request: admin.SetUserAllocationsRequest, caller: Caller
    ) -> admin.SetUserAllocationsReply:
        user = self._users.set_allocations(request.id, request.allocation_ids, everything=request.all_allocations)
        return admin.SetUserAllocationsReply(user=_user(user))

    def RemoveUser(self, request: admin.RemoveUserRequest, caller: Caller) -> admin.RemoveUserReply:
        self._users.remove(request.id)
        return admin.RemoveUserReply()

    def CreateAccessKey(self, request: admin.CreateAccessKeyRequest, caller: Caller) -> admin.CreateAccessKeyReply:
        secret = self._users.create_key(request.user_id, request.id, request.sha256)
        return admin.CreateAccessKeyReply(secret=secret)

    def RemoveAccessKey(self, request: admin.RemoveAccessKeyRequest, caller: Caller) -> admin.RemoveAccessKeyReply:
        self._users.remove_key(request.user_id, request.id)
        return admin.RemoveAccessKeyReply()

    def TestCluster(self, request: admin.TestClusterRequest, caller: Caller) -> admin.TestClusterReply:
        if not self.controller.tests_clusters:
            raise precondition("this controller has no cluster test")
        kinds = [KINDS[kind - 1] if 0 < kind <= len(KINDS) else str(kind) for kind in request.kinds]
        return admin.TestClusterReply(id=self._tests.start(request.id, request.allocation_id, kinds).id)

    def GetClusterTest(self, request: admin.GetClusterTestRequest, caller: Caller) -> admin.GetClusterTestReply:
        return admin.GetClusterTestReply(test=_cluster_test(self._tests.get(request.id)))

    def ListLinks(self, request: admin.ListLinksRequest, caller: Caller) -> admin.ListLinksReply:
        return admin.ListLinksReply(
            links=[
                admin.Link(
                    from_agent=link.one.name,
                    to_agent=link.other.name,
                    kind=f"LINK_{link.kind.upper()}",
                    state=f"LS_{state.upper()}",
                )
                for link, state in self._links(request.allocation_id)
            ]
        )

    def _view(self, allocation: Allocation) -> admin.Allocation:
        return self.controller.allocation_view(allocation)

    def _links(self, allocation_id: str) -> Iterable[tuple[Link, LinkState]]:
        if allocation_id:
            return self.controller.links(self._allocations.get(allocation_id).agent_ids)
        return self.controller.impaired_links()

    def _agent(self, machine: Machine) -> admin.Agent:
        pod, slot = self.controller.place_of(machine)
        return admin.Agent(
            id=machine.name,
            cluster_id=machine.cluster_id,
            pod=pod,
            slot=slot,
            allocation_id=self._allocations.owner_of(machine.name) or "",
            reachable=self.controller.reachable(machine.name),
            host=machine.rnic,
        )


def _choice(value: int, yes: int) -> bool | None:
    """A choice between two values of an enumeration; None when it is left open."""
    return None if value == 0 else value == yes


def _cluster(cluster: Cluster) -> admin.Cluster:
    return admin.Cluster(
        id=cluster.id,
        agent_ids=[agent.name for agent in cluster.agents],
        topology="TOPOLOGY_TORUS" if cluster.torus else "TOPOLOGY_MESH",
        num_ipulink_domains=len(cluster.domains),
        gateway_topology="GATEWAY_LOOPED" if cluster.looped else "GATEWAY_SWITCHED",
    )


def _user(user: User) -> admin.User:
    return admin.User(
        id=user.id,
        allocation_ids=user.allocation_ids,
        all_allocations=user.all_allocations,
        access_key_ids=list(user.keys),
    )


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
            admin.LinkResult(
                from_agent=link.from_agent,
                to_agent=link.to_agent,
                passed=link.passed,
                detail=link.detail,
                link=link.name,
            )
            for link in result.links
        ],
    )


def _state(passed: bool) -> str:
    return "TS_PASSED" if passed else "TS_FAILED"
