"""One V-IPU controller: its parts, its file, and the views of its state that the wire shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import MappingProxyType

import orjson

from ipucloud.laboratory.simulator.clock import Clock
from ipucloud.laboratory.simulator.durations import Durations
from ipucloud.laboratory.simulator.hardware import IPUS_PER_MACHINE, Machine, Region
from ipucloud.laboratory.simulator.refusal import not_found, precondition
from ipucloud.laboratory.simulator.settings import VIPU_VERSION
from ipucloud.laboratory.simulator.store import Document, read_document
from ipucloud.laboratory.simulator.vipu.allocations import Allocations
from ipucloud.laboratory.simulator.vipu.attributes import attributes_of, machine_health
from ipucloud.laboratory.simulator.vipu.callers import EVERYBODY, Caller
from ipucloud.laboratory.simulator.vipu.cluster_tests import ClusterTests
from ipucloud.laboratory.simulator.vipu.clusters import Clusters
from ipucloud.laboratory.simulator.vipu.context import Context
from ipucloud.laboratory.simulator.vipu.devices import IPUOF_SERVER_VERSION, devices_of, ipuof_config, partition_ipus
from ipucloud.laboratory.simulator.vipu.endpoints import Endpoints
from ipucloud.laboratory.simulator.vipu.links import BrokenLinks, Link, links_among
from ipucloud.laboratory.simulator.vipu.model import STATE, Allocation, Partition, Ready, State
from ipucloud.laboratory.simulator.vipu.partitions import MAX_AUTO_RESETS, Partitions
from ipucloud.laboratory.simulator.vipu.topology import Fleet
from ipucloud.laboratory.simulator.vipu.users import Users
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.inventory import LinkState


class Controller:
    """The controller of one region. Callers `settle` before they read, and wait for `document` before they answer.

    It says that it runs `version`, and refuses cluster tests unless it `tests_clusters`.
    `calls` counts what was answered since the process started, by method and status. `administrator` is a user who sees
    everything, and their access key. `place_of` answers a machine's pod and slot as they are shown. `endpoints` listen
    for its allocations, once somebody has set them.
    """

    endpoints: Endpoints

    def __init__(
        self,
        region: Region,
        path: Path,
        *,
        clock: Clock,
        durations: Durations,
        reachable: Callable[[str], bool],
        broken: BrokenLinks = MappingProxyType({}),
        place_of: Callable[[Machine], tuple[str, int]] | None = None,
        secure: bool = False,
        administrator: tuple[str, str] | None = None,
        version: str = VIPU_VERSION,
        tests_clusters: bool = True,
        fsync: bool,
    ) -> None:
        stored = read_document(path)
        self.document = Document(path, lambda: orjson.dumps(self._context.state), fsync=fsync)
        self._secure = secure
        self.version = version
        self.tests_clusters = tests_clusters
        self.place_of = place_of or (lambda machine: (machine.pod, machine.slot))
        self._administrator = administrator
        self._around = (clock, durations, reachable, broken, self.document.touch)
        self._begin(region, State() if stored is None else _read(stored))

    def _begin(self, region: Region, state: State) -> None:
        """Rebuild everything over a state."""
        self._context = Context(Fleet(region, state.fleet), state, *self._around)
        self.clusters = Clusters(self._context)
        self.allocations = Allocations(self._context)
        self.users = Users(self._context, self.allocations, secure=self._secure)
        self.partitions = Partitions(self._context, self.allocations)
        self.tests = ClusterTests(self._context, self.allocations)
        if self._administrator is not None:
            self.users.keep_administrator(*self._administrator)

    def forget(self) -> None:
        """Lose the whole state, as if the file had been lost while the controller was down."""
        self._begin(self._context.fleet.region, State())
        self.endpoints.follow(())
        self.document.touch()

    def listen(self) -> None:
        """Open the endpoints of its allocations."""
        self.endpoints.follow(allocation.id for allocation in self.allocations.all())

    async def settled(self) -> None:
        """Return when every change made so far is in the file, and every endpoint answers."""
        await self.document.settled()
        await self.endpoints.settled()

    def advance(self) -> None:
        """Let everything happen whose time has come."""
        self.partitions.advance()
        self.tests.advance()

    def hardware_changed(self, agents: Iterable[str]) -> None:
        """The machines of these agents stopped answering, or a link of theirs did."""
        self.advance()
        self.partitions.fail_on(agents)

    def reachable(self, agent: str) -> bool:
        """Whether the agent's machine answers."""
        return self._context.reachable(agent)

    def links(self, agents: Iterable[str]) -> Iterator[tuple[Link, LinkState]]:
        """The links that agents of one cluster have among themselves; one is down while an end does not answer."""
        for link in links_among([self._context.fleet.agents[name] for name in agents]):
            answers = self.reachable(link.one.name) and self.reachable(link.other.name)
            yield link, self._context.broken.get(link.name, LinkState.UP) if answers else LinkState.DOWN

    def impaired_links(self) -> Iterator[tuple[Link, LinkState]]:
        """The links of all agents that are not up although both ends answer."""
        if not self._context.broken:
            return
        for cluster in self.clusters.all():
            for link, state in self.links(agent.name for agent in cluster.agents):
                if (
                    link.name in self._context.broken
                    and self.reachable(link.one.name)
                    and self.reachable(link.other.name)
                ):
                    yield link, state

    def agents(self, cluster_id: str = "") -> list[Machine]:
        """Every agent (of one cluster, when it is named), in the order of the hardware."""
        if cluster_id:
            return list(self.clusters.get(cluster_id).agents)
        return list(self._context.fleet.agents.values())

    def allocation_view(self, allocation: Allocation) -> admin.Allocation:
        """An allocation as the wire shows it."""
        return admin.Allocation(
            id=allocation.id,
            cluster_id=allocation.cluster_id,
            agent_ids=allocation.agent_ids,
            endpoint_host=self.endpoints.host,
            endpoint_port=self.endpoints.port(allocation.id),
        )

    def view(self, partition: Partition) -> pb.Partition:
        """A partition as the wire lists it."""
        return pb.Partition(
            id=partition.id,
            spec=self._spec(partition),
            ready_state=partition.ready,
            ipuof_server_version=IPUOF_SERVER_VERSION,
        )

    def status(self, partition: Partition) -> pb.PartitionStatus:
        """The two states of a partition, its errors and its auto-reset counters."""
        status = pb.PartitionStatus(
            partition_id=partition.id,
            ready_state=partition.ready,
            operation_state=partition.operation,
            errors=partition.errors,
            max_auto_reset_retries=MAX_AUTO_RESETS if partition.auto_reset else 0,
            auto_reset_retry_count=partition.retries,
        )
        if partition.last_auto_reset is not None:
            status.last_auto_reset_time.FromMicroseconds(round(partition.last_auto_reset * 1e6))
        return status

    def ipuof_config(self, partition: Partition, gcd: int | None) -> pb.PartitionConfig:
        """The configuration that clients of an active partition connect by."""
        if partition.ready is not Ready.ACTIVE:
            raise precondition(
                f"partition {partition.id!r} is not active: it is {partition.ready}/{partition.operation}"
            )
        return ipuof_config(partition, self.allocations.cluster(partition.cluster_id), gcd)

    def ipu_attributes(self, agents: Iterable[str], caller: Caller) -> list[pb.ListIPUAttributesReply.Entry]:
        """The attributes of every IPU of these agents; of all that the caller sees when none is named."""
        names = list(agents) or [name for name in self._context.fleet.agents if self._visible(name, caller)]
        for name in names:
            if name not in self._context.fleet.agents or not self._visible(name, caller):
                raise not_found(f"agent {name!r} does not exist")
        return [self._entry(name) for name in names]

    def _visible(self, agent: str, caller: Caller) -> bool:
        return caller is EVERYBODY or caller.sees(self.allocations.owner_of(agent) or "")

    def _entry(self, agent: str) -> pb.ListIPUAttributesReply.Entry:
        machine = self._context.fleet.agents[agent]
        in_use = self._devices_in_use(agent)
        health = machine_health(machine, self._context.reachable(agent), self._context.broken)
        kind = pb.ListIPUAttributesReply.Entry.Attributes
        return pb.ListIPUAttributesReply.Entry(
            agent=agent,
            ipu_attributes={
                ipu: kind(attributes=attributes_of(machine, ipu, in_use.get(ipu), health))
                for ipu in range(IPUS_PER_MACHINE)
            },
        )

    def _devices_in_use(self, agent: str) -> dict[int, tuple[int, pb.PartitionSpec]]:
        """The routing id and partition of every IPU of the agent that is in one."""
        in_use = {}
        for partition in self.partitions.on(agent):
            spec = self._spec(partition)
            for device in devices_of(partition.blocks, self.allocations.cluster(partition.cluster_id)):
                if device.machine.name == agent:
                    in_use[device.ipu] = (device.routing_id, spec)
        return in_use

    def _spec(self, partition: Partition) -> pb.PartitionSpec:
        shape = partition.shape
        return pb.PartitionSpec(
            cluster_id=partition.cluster_id,
            ipus=partition_ipus(partition.blocks, self.allocations.cluster(partition.cluster_id)),
            ipulink_routing_type=shape.routing,
            sync_type=shape.sync_type,
            num_gcds=shape.gcds,
            num_ipulink_segments=shape.segments,
            reconfigurable=shape.reconfigurable,
            gw_routing_type=shape.gw_routing,
            num_replicas=shape.replicas,
            allocation_id=partition.allocation_id,
        )


def _read(stored: bytes) -> State:
    state = STATE.validate_json(stored)
    # Earlier versions kept partitions by their ids.
    state.partitions = {partition.key: partition for partition in state.partitions.values()}
    return state
