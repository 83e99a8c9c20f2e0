"""`ipucloud.site.ports` over the model: the way of one actor to the site."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeVar

import structlog

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.site.ports import Budget, Site, SiteRefused, VipuAddress
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
    VipuUser,
)
from ipucloud.wire.inventory import Inventory
from ipucloud.wire.redfish import RedfishLogEntry, RedfishSystem
from ipucloud.wire.site import Console, Host, Job, JobRequest, LoginKey, Network, NetworkSpec, S3Remote, ServerSpec
from ipucloud.wire.storage import (
    Address,
    AddressAttachment,
    AddressSpec,
    Snapshot,
    SnapshotSpec,
    Volume,
    VolumeAttachment,
    VolumeSpec,
)
from tests.sim.scheduler import Actor
from tests.sim.site import observations as see
from tests.sim.site.network import CALL_SECONDS, Observation, Request
from tests.sim.site.network import Network as Wires

Value = TypeVar("Value")


class SimulatedSites:
    """Implements `Sites` for one actor."""

    def __init__(self, actor: Actor, wires: Wires, inventory: Inventory) -> None:
        self._actor = actor
        self._wires = wires
        self._inventory = inventory

    def at(self, vipu: VipuAddress | None, budget: Budget) -> Site:
        # The engine binds the key of its work item to its log lines; it names the cluster on whose behalf we call.
        sender = str(structlog.contextvars.get_contextvars().get("key", self._actor.name))
        calls = Calls(self._actor, self._wires, budget, sender)
        secured = SecuredCalls(self._actor, self._wires, budget, sender)
        return Site(
            SimulatedVipu(secured),
            SimulatedNetworks(calls),
            SimulatedHosts(calls),
            SimulatedMachines(calls),
            NoVolumes(),
            NoSnapshots(),
            NoAddresses(),
        )

    async def inventory(self) -> Inventory:
        return await self._wires.read(
            self._actor, lambda: CALL_SECONDS, "inventory", lambda _state, _now: self._inventory
        )


class NoVolumes:
    """The model has no storage: nobody in it asks for a volume."""

    async def get(self, name: str) -> Volume | None:  # there is none
        return None

    async def put(self, name: str, spec: VolumeSpec) -> Volume:
        raise SiteRefused(f"no storage for {name} of {spec.size_gib} GiB")

    async def attach(self, name: str, attachment: VolumeAttachment) -> Volume | None:  # there is none
        return None

    async def delete(self, name: str) -> None: ...


class NoSnapshots:
    """As there are no volumes."""

    async def get(self, name: str) -> Snapshot | None:  # there is none
        return None

    async def put(self, name: str, spec: SnapshotSpec) -> Snapshot:
        raise SiteRefused(f"no storage for {name} of volume {spec.volume}")

    async def delete(self, name: str) -> None: ...


class NoAddresses:
    """The model has no public addresses: nobody in it asks for one."""

    async def get(self, name: str) -> Address | None:  # there is none
        return None

    async def put(self, name: str, spec: AddressSpec) -> Address:
        raise SiteRefused(f"no address for {name} in {spec.region}")

    async def attach(self, name: str, attachment: AddressAttachment) -> Address | None:  # there is none
        return None

    async def delete(self, name: str) -> None: ...


class Calls:
    """The calls of one pass; `sender` is who they are made for."""

    secured = False

    def __init__(self, actor: Actor, wires: Wires, budget: Budget, sender: str) -> None:
        self.hardware = wires.hardware
        self._actor = actor
        self._wires = wires
        self._budget = budget
        self._sender = sender

    async def read(self, what: str, observe: Observation[Value]) -> Value:
        return await self._wires.read(self._actor, self._budget, what, observe, secured=self.secured)

    async def change(self, call: str, name: str, effect: Callable[[], None], *touches: str) -> None:
        request = Request(call, name, touches, self._sender)
        await self._wires.change(self._actor, self._budget, request, effect, secured=self.secured)


class SecuredCalls(Calls):
    """Those to the V-IPU controller, over TLS."""

    secured = True


class SimulatedVipu:
    def __init__(self, calls: SecuredCalls) -> None:
        self._calls = calls
        self._controller = calls.hardware.controller

    async def release(self) -> Release | None:
        return await self._calls.read("release", lambda _state, _now: Release("1.18.0"))

    async def partition_status(self, allocation_id: str, partition_id: str) -> PartitionStatus | None:
        return await self._calls.read(
            f"partition_status {partition_id}",
            lambda state, _: see.partition_status(state, allocation_id, partition_id),
        )

    async def list_partitions(self, allocation_id: str) -> Sequence[str]:
        return await self._calls.read(
            f"list_partitions {allocation_id}", lambda state, _: see.list_partitions(state, allocation_id)
        )

    async def all_partitions(self) -> Sequence[Partition]:
        return await self._calls.read("all_partitions", see.all_partitions)

    async def partitions_of(self, allocation_id: str) -> Sequence[SeenPartition]:
        return await self._calls.read(
            f"partitions_of {allocation_id}", lambda state, _: see.partitions_of(state, allocation_id)
        )

    async def reset_partition(self, allocation_id: str, partition_id: str, *, relocatable: bool) -> bool:
        answers: list[bool] = []
        await self._calls.change(
            "reset_partition",
            partition_id,
            lambda: answers.append(self._controller.reset_partition(allocation_id, partition_id)),
        )
        return answers[0]

    async def remove_partition(self, allocation_id: str, partition_id: str) -> None:
        await self._calls.change(
            "remove_partition",
            partition_id,
            lambda: self._controller.remove_partition(allocation_id, partition_id),
        )

    async def ipuof_config(
        self, allocation_id: str, partition_id: str, shape: PartitionShape
    ) -> Sequence[IpuofGcd] | None:
        return await self._calls.read(
            f"ipuof_config {partition_id}", lambda state, _: see.ipuof_config(state, allocation_id, partition_id)
        )

    async def create_partition(self, request: PartitionRequest) -> bool:
        held = self._controller.state.allocations.get(request.allocation_id)
        touches = () if held is None else sorted(held.agent_ids)
        answers: list[bool] = []
        await self._calls.change(
            "create_partition",
            request.id,
            lambda: answers.append(self._controller.create_partition(request)),
            *touches,
        )
        return answers[0]

    async def allocation(self, allocation_id: str) -> Allocation | None:
        return await self._calls.read(
            f"allocation {allocation_id}", lambda state, _: see.allocation(state, allocation_id)
        )

    async def list_allocations(self, cluster_id: str) -> Sequence[Allocation]:
        return await self._calls.read(
            f"list_allocations {cluster_id}", lambda state, _: see.list_allocations(state, cluster_id)
        )

    async def create_allocation(self, allocation: Allocation) -> None:
        await self._calls.change(
            "create_allocation",
            allocation.id,
            lambda: self._controller.create_allocation(allocation),
            *sorted(allocation.agent_ids),
        )

    async def remove_allocation(self, allocation_id: str) -> None:
        await self._calls.change(
            "remove_allocation", allocation_id, lambda: self._controller.remove_allocation(allocation_id)
        )

    async def remove_partitions(self, allocation_id: str) -> None:
        await self._calls.change(
            "remove_partitions", allocation_id, lambda: self._controller.remove_partitions(allocation_id)
        )

    async def cluster_test(self, test_id: str) -> ClusterTest | None:
        return await self._calls.read(f"cluster_test {test_id}", lambda state, _: see.cluster_test(state, test_id))

    async def start_cluster_test(self, test_id: str, allocation_id: str) -> None:
        await self._calls.change("start_test", test_id, lambda: self._controller.start_test(test_id, allocation_id))

    async def links(self, allocation_id: str) -> Sequence[Link]:
        return await self._calls.read(f"links {allocation_id}", lambda state, _: see.links(state, allocation_id))

    async def agents(self) -> Sequence[Agent]:
        return await self._calls.read("agents", lambda state, _: see.agents(state))

    async def impaired_links(self) -> Sequence[Link]:
        return await self._calls.read("impaired_links", lambda state, _: see.impaired_links(state))

    async def user(self, user_id: str) -> VipuUser | None:
        return await self._calls.read(f"user {user_id}", lambda state, _: see.user(state, user_id))

    async def list_users(self) -> Sequence[VipuUser]:
        return await self._calls.read("list_users", lambda state, _: see.list_users(state))

    async def create_user(self, user_id: str) -> None:
        await self._calls.change("create_user", user_id, lambda: self._controller.create_user(user_id))

    async def set_user_allocation(self, user_id: str, allocation_id: str) -> None:
        await self._calls.change(
            "set_user_allocation",
            user_id,
            lambda: self._controller.set_user_allocation(user_id, allocation_id),
        )

    async def remove_user(self, user_id: str) -> None:
        await self._calls.change("remove_user", user_id, lambda: self._controller.remove_user(user_id))

    async def create_access_key(self, user_id: str, key_id: str, sha256: str) -> None:
        await self._calls.change(
            "create_access_key", user_id, lambda: self._controller.create_access_key(user_id, key_id)
        )

    async def remove_access_key(self, user_id: str, key_id: str) -> None:
        await self._calls.change(
            "remove_access_key", user_id, lambda: self._controller.remove_access_key(user_id, key_id)
        )


class SimulatedNetworks:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._hardware = calls.hardware

    async def get(self, name: str) -> Network | None:
        return await self._calls.read(f"network {name}", lambda state, _: see.network(state, name))

    async def list(self, region: str) -> Sequence[Network]:
        return await self._calls.read("networks", see.networks)

    async def put(self, name: str, spec: NetworkSpec) -> Network:
        answers: list[Network | None] = []

        def put() -> None:
            self._hardware.put_network(name, spec)
            answers.append(see.network(self._hardware.state, name))

        await self._calls.change("put_network", name, put, *spec.machines, *spec.hosts)
        assert answers[0] is not None
        return answers[0]

    async def delete(self, name: str) -> None:
        await self._calls.change("delete_network", name, lambda: self._hardware.delete_network(name))


class SimulatedHosts:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._hardware = calls.hardware
        self._servers = calls.hardware.servers

    async def get(self, host: str) -> Host:
        return await self._calls.read(f"host {host}", lambda state, now: see.host(state, host, now))

    async def list(self, region: str) -> Sequence[Host]:
        return await self._calls.read("hosts", see.hosts)

    async def put_server(self, host: str, spec: ServerSpec) -> Host:
        answers: list[Host] = []

        def put() -> None:
            self._servers.put_server(host, spec)
            answers.append(see.host(self._hardware.state, host, self._hardware.now))

        await self._calls.change("put_server", spec.name, put, host)
        return answers[0]

    async def delete_server(self, host: str, name: str) -> None:
        await self._calls.change("delete_server", name, lambda: self._servers.delete_server(host, name))

    async def switch_on(self, host: str, server: str, network: str, environment: Mapping[str, str]) -> Host:
        return await self._switch(
            "switch_on", host, network, lambda: self._servers.switch_on(host, server, network, environment)
        )

    async def switch_off(self, host: str, server: str, network: str) -> Host:
        return await self._switch("switch_off", host, network, lambda: self._servers.switch_off(host, server, network))

    async def restart(self, host: str, server: str, network: str, *, boot_id: str, hard: bool) -> Host:
        call = "power_cycle" if hard else "reboot"
        return await self._switch(call, host, network, lambda: self._servers.restart(host, server, network, boot_id))

    async def put_keys(self, host: str, server: str, network: str, keys: Sequence[str], *, revision: int) -> Host:
        return await self._switch(
            "put_keys", host, network, lambda: self._servers.put_keys(host, server, network, keys, revision)
        )

    async def put_login_key(self, host: str, name: str, key: LoginKey) -> Host:
        raise NotImplementedError("no history has terminals")

    async def put_s3(
        self, host: str, server: str, network: str, connections: Sequence[S3Remote], *, revision: int
    ) -> Host:
        raise NotImplementedError("no history has S3 connections")

    async def put_preemption(
        self, host: str, server: str, network: str, preempt_at: datetime | None, *, revision: int
    ) -> Host:
        raise NotImplementedError("no history has preemptible clusters")

    async def rebuild(self, host: str, spec: ServerSpec, *, disk: Literal["keep", "wipe"]) -> Host:
        return await self._switch(f"rebuild_{disk}", host, spec.network, lambda: self._servers.rebuild(host, spec))

    async def put_job(self, host: str, job: str, request: JobRequest) -> Job:
        raise NotImplementedError("no history has jobs")

    async def get_job(self, host: str, job: str, *, server: str, network: str, log_from: int) -> Job | None:
        raise NotImplementedError("no history has jobs")

    async def stop_job(self, host: str, job: str, *, server: str, network: str) -> Job:
        raise NotImplementedError("no history has jobs")

    async def console(self, host: str, server: str, network: str, *, after: int) -> Console | None:
        raise NotImplementedError("no history has consoles")

    async def _switch(self, call: str, host: str, network: str, effect: Callable[[], None]) -> Host:
        answers: list[Host] = []

        def switch() -> None:
            effect()
            answers.append(see.host(self._hardware.state, host, self._hardware.now))

        await self._calls.change(call, network, switch, host)
        return answers[0]

    async def ssh_host_key(self, address: str, port: int) -> str | None:
        return await self._calls.read(f"ssh {address}", lambda state, _: see.ssh_host_key(state, address))


class SimulatedMachines:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._hardware = calls.hardware

    async def get(self, machine: str) -> RedfishSystem:
        return await self._calls.read(f"machine {machine}", lambda state, _: see.machine(state, machine))

    async def list(self, region: str) -> Sequence[RedfishSystem]:
        return await self._calls.read(f"machines {region}", lambda state, _: see.machines(state))

    async def log(self, machine: str) -> Sequence[RedfishLogEntry]:
        """Read by a command of operators only, and not in histories."""
        raise SiteRefused(f"machine {machine} keeps no log")

    async def power_on(self, machine: str, network: str) -> None:
        await self._calls.change("power_on", machine, lambda: self._hardware.power_on(machine, network), machine)

    async def power_off(self, machine: str, network: str) -> None:
        await self._calls.change("power_off", machine, lambda: self._hardware.power_off(machine, network), machine)
