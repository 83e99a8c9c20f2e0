"""`ipucloud.site.ports` over the model: the way of one actor to the site.

What no history asks for is left out: storage, addresses, jobs, consoles, terminals, S3 connections. Whoever asks for it
ends with an exception that nobody foresaw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import structlog

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.site.ports import Budget, Site, VipuAddress
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
from ipucloud.wire.redfish import RedfishSystem
from ipucloud.wire.site import Host, Network, NetworkSpec, ServerSpec
from tests.sim.scheduler import Actor
from tests.sim.site import observations as see
from tests.sim.site.network import CALL_SECONDS, Observation, Request
from tests.sim.site.network import Network as Wires
from tests.sim.site.state import SiteState

Value = TypeVar("Value")
Of = ParamSpec("Of")


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
        secured = Calls(self._actor, self._wires, budget, sender, secured=True)
        hosts: Any = SimulatedHosts(calls)
        machines: Any = SimulatedMachines(calls)
        none: Any = None
        return Site(SimulatedVipu(secured), SimulatedNetworks(calls), hosts, machines, none, none, none)

    async def inventory(self) -> Inventory:
        return await self._wires.read(
            self._actor, lambda: CALL_SECONDS, "inventory", lambda _state, _now: self._inventory
        )


class Calls:
    """The calls of one pass; `sender` is who they are made for. `secured`: to the V-IPU controller, over TLS."""

    def __init__(self, actor: Actor, wires: Wires, budget: Budget, sender: str, *, secured: bool = False) -> None:
        self.hardware = wires.hardware
        self._actor = actor
        self._wires = wires
        self._budget = budget
        self._sender = sender
        self._secured = secured

    async def read(self, what: str, observe: Observation[Value]) -> Value:
        return await self._wires.read(self._actor, self._budget, what, observe, secured=self._secured)

    async def see(
        self, observe: Callable[Concatenate[SiteState, Of], Value], *of: Of.args, **named: Of.kwargs
    ) -> Value:
        """A read that a trace calls as the observation, with the last name that it is of."""
        what = " ".join([observe.__name__, *map(str, of[-1:])])
        return await self.read(what, lambda state, _: observe(state, *of, **named))

    async def change(self, call: str, name: str, effect: Callable[[], Value], *touches: str) -> Value:
        """What the effect answers when it arrives first."""
        answers: list[Value] = []
        request = Request(call, name, touches, self._sender)
        await self._wires.change(
            self._actor, self._budget, request, lambda: answers.append(effect()), secured=self._secured
        )
        return answers[0]

    async def apply(
        self, effect: Callable[Concatenate[str, Of], Value], name: str, *of: Of.args, **named: Of.kwargs
    ) -> Value:
        """A change that a trace calls as the effect, with the first name that it is of."""
        return await self.change(effect.__name__, name, lambda: effect(name, *of, **named))


class SimulatedVipu:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._controller = calls.hardware.controller

    async def release(self) -> Release | None:
        return await self._calls.read("release", lambda _state, _now: Release("1.18.0"))

    async def partition_status(self, allocation_id: str, partition_id: str) -> PartitionStatus | None:
        return await self._calls.see(see.partition_status, allocation_id, partition_id)

    async def list_partitions(self, allocation_id: str) -> Sequence[str]:
        return await self._calls.see(see.list_partitions, allocation_id)

    async def all_partitions(self) -> Sequence[Partition]:
        return await self._calls.see(see.all_partitions)

    async def partitions_of(self, allocation_id: str) -> Sequence[SeenPartition]:
        return await self._calls.see(see.partitions_of, allocation_id)

    async def reset_partition(self, allocation_id: str, partition_id: str, *, relocatable: bool) -> bool:
        return await self._calls.change(
            "reset_partition", partition_id, lambda: self._controller.reset_partition(allocation_id, partition_id)
        )

    async def remove_partition(self, allocation_id: str, partition_id: str) -> None:
        await self._calls.change(
            "remove_partition", partition_id, lambda: self._controller.remove_partition(allocation_id, partition_id)
        )

    async def ipuof_config(
        self, allocation_id: str, partition_id: str, shape: PartitionShape
    ) -> Sequence[IpuofGcd] | None:
        return await self._calls.see(see.ipuof_config, allocation_id, partition_id)

    async def create_partition(self, request: PartitionRequest) -> bool:
        held = self._controller.state.allocations.get(request.allocation_id)
        touches = () if held is None else sorted(held.agent_ids)
        return await self._calls.change(
            "create_partition", request.id, lambda: self._controller.create_partition(request), *touches
        )

    async def allocation(self, allocation_id: str) -> Allocation | None:
        return await self._calls.see(see.allocation, allocation_id)

    async def list_allocations(self, cluster_id: str) -> Sequence[Allocation]:
        return await self._calls.see(see.list_allocations, cluster_id)

    async def create_allocation(self, allocation: Allocation) -> None:
        agents = sorted(allocation.agent_ids)
        await self._calls.change(
            "create_allocation", allocation.id, lambda: self._controller.create_allocation(allocation), *agents
        )

    async def remove_allocation(self, allocation_id: str) -> None:
        await self._calls.apply(self._controller.remove_allocation, allocation_id)

    async def remove_partitions(self, allocation_id: str) -> None:
        await self._calls.apply(self._controller.remove_partitions, allocation_id)

    async def cluster_test(self, test_id: str) -> ClusterTest | None:
        return await self._calls.see(see.cluster_test, test_id)

    async def start_cluster_test(self, test_id: str, allocation_id: str) -> None:
        await self._calls.apply(self._controller.start_test, test_id, allocation_id)

    async def links(self, allocation_id: str) -> Sequence[Link]:
        return await self._calls.see(see.links, allocation_id)

    async def agents(self) -> Sequence[Agent]:
        return await self._calls.see(see.agents)

    async def impaired_links(self) -> Sequence[Link]:
        return await self._calls.see(see.impaired_links)

    async def user(self, user_id: str) -> VipuUser | None:
        return await self._calls.see(see.user, user_id)

    async def list_users(self) -> Sequence[VipuUser]:
        return await self._calls.see(see.list_users)

    async def create_user(self, user_id: str) -> None:
        await self._calls.apply(self._controller.create_user, user_id)

    async def set_user_allocation(self, user_id: str, allocation_id: str) -> None:
        await self._calls.apply(self._controller.set_user_allocation, user_id, allocation_id)

    async def remove_user(self, user_id: str) -> None:
        await self._calls.apply(self._controller.remove_user, user_id)

    async def create_access_key(self, user_id: str, key_id: str, sha256: str) -> None:
        await self._calls.apply(self._controller.create_access_key, user_id, key_id)

    async def remove_access_key(self, user_id: str, key_id: str) -> None:
        await self._calls.apply(self._controller.remove_access_key, user_id, key_id)


class SimulatedNetworks:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._hardware = calls.hardware

    async def get(self, name: str) -> Network | None:
        return await self._calls.see(see.network, name)

    async def list(self, region: str) -> Sequence[Network]:
        return await self._calls.see(see.networks)

    async def put(self, name: str, spec: NetworkSpec) -> Network:
        def put() -> Network | None:
            self._hardware.put_network(name, spec)
            return see.network(self._hardware.state, name)

        network = await self._calls.change("put_network", name, put, *spec.machines, *spec.hosts)
        assert network is not None
        return network

    async def delete(self, name: str) -> None:
        await self._calls.apply(self._hardware.delete_network, name)


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
        return await self._change("put_server", host, spec.name, lambda: self._servers.put_server(host, spec))

    async def delete_server(self, host: str, name: str) -> None:
        await self._calls.change("delete_server", name, lambda: self._servers.delete_server(host, name))

    async def switch_on(self, host: str, server: str, network: str, environment: Mapping[str, str]) -> Host:
        return await self._change(
            "switch_on", host, network, lambda: self._servers.switch_on(host, server, network, environment)
        )

    async def switch_off(self, host: str, server: str, network: str) -> Host:
        return await self._change("switch_off", host, network, lambda: self._servers.switch_off(host, server, network))

    async def restart(self, host: str, server: str, network: str, *, boot_id: str, hard: bool) -> Host:
        call = "power_cycle" if hard else "reboot"
        return await self._change(call, host, network, lambda: self._servers.restart(host, server, network, boot_id))

    async def put_keys(self, host: str, server: str, network: str, keys: Sequence[str], *, revision: int) -> Host:
        return await self._change(
            "put_keys", host, network, lambda: self._servers.put_keys(host, server, network, keys, revision)
        )

    async def rebuild(self, host: str, spec: ServerSpec, *, disk: Literal["keep", "wipe"]) -> Host:
        return await self._change(f"rebuild_{disk}", host, spec.network, lambda: self._servers.rebuild(host, spec))

    async def _change(self, call: str, host: str, name: str, effect: Callable[[], None]) -> Host:
        def change() -> Host:
            effect()
            return see.host(self._hardware.state, host, self._hardware.now)

        return await self._calls.change(call, name, change, host)

    async def ssh_host_key(self, address: str, port: int) -> str | None:
        return await self._calls.read(f"ssh {address}", lambda state, _: see.ssh_host_key(state, address))


class SimulatedMachines:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._hardware = calls.hardware

    async def get(self, machine: str) -> RedfishSystem:
        return await self._calls.see(see.machine, machine)

    async def list(self, region: str) -> Sequence[RedfishSystem]:
        return await self._calls.read(f"machines {region}", lambda state, _: see.machines(state))

    async def power_on(self, machine: str, network: str) -> None:
        await self._calls.change("power_on", machine, lambda: self._hardware.power_on(machine, network), machine)

    async def power_off(self, machine: str, network: str) -> None:
        await self._calls.change("power_off", machine, lambda: self._hardware.power_off(machine, network), machine)
