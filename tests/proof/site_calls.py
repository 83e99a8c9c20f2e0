"""Every call of the control plane to a site, as a case: what it needs, how it is made, what it brings about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.site.calls import Call
from ipucloud.site.ports import Allocation, PartitionRequest, Site, Sites
from ipucloud.wire.site import HostState, Inventory, NetworkSpec, ServerSpec, SiteRegion

REGION = "luxembourg-2"
IPUS_OF_A_MACHINE = 4
DIGEST = "0" * 64

Transport = Literal["http", "user", "admin"]
Answer = Any
Verb = Callable[["Thing"], Awaitable[Answer]]


class Supply:
    """Hardware of one region, each piece given once."""

    def __init__(self, inventory: Inventory) -> None:
        self.region: SiteRegion = next(region for region in inventory.regions if region.region == REGION)
        self._machines = iter(
            [(machine.name, pod.cluster_id or "") for pod in self.region.pods for machine in pod.machines]
        )
        self._hosts = iter([host.name for host in self.region.hosts])
        self._numbers = count(10_000)

    def thing(self) -> Thing:
        machine, cluster = next(self._machines)
        return Thing(f"n{next(self._numbers)}", machine, cluster, next(self._hosts))


@dataclass(frozen=True)
class Thing:
    """What one case acts on: a fresh name of constant length, and hardware of its own."""

    name: str
    machine: str
    vipu_cluster: str
    host: str

    @property
    def network(self) -> NetworkSpec:
        return NetworkSpec(region=REGION, machines=[self.machine], hosts=[self.host])

    @property
    def allocation(self) -> Allocation:
        return Allocation(self.name, self.vipu_cluster, frozenset({self.machine}))

    @property
    def partition(self) -> PartitionRequest:
        return PartitionRequest(
            id=self.name, allocation_id=self.name, size=IPUS_OF_A_MACHINE, gcds=1, reconfigurable=True
        )

    @property
    def server(self) -> ServerSpec:
        image = "ubuntu-20.04-x64-poplar-1.18.0-3.0.0"
        return ServerSpec(name=self.name, image=image, ssh_authorized_keys=[], environment={}, network=self.name)


async def _nothing(site: Site, thing: Thing) -> None:
    """The call needs nothing to be there."""


async def _network(site: Site, thing: Thing) -> None:
    await site.networks.put(thing.name, thing.network)


async def _server(site: Site, thing: Thing) -> None:
    await _network(site, thing)
    await site.hosts.put_server(thing.host, thing.server)


async def _machine_off(site: Site, thing: Thing) -> None:
    await site.machines.power_off(thing.machine, thing.name)


async def _allocation(site: Site, thing: Thing) -> None:
    await site.vipu.create_allocation(thing.allocation)


async def _partition(site: Site, thing: Thing) -> None:
    await _allocation(site, thing)
    await site.vipu.create_partition(thing.partition)


async def _test(site: Site, thing: Thing) -> None:
    await _allocation(site, thing)
    await site.vipu.start_cluster_test(thing.name, thing.name)


async def _user(site: Site, thing: Thing) -> None:
    await _allocation(site, thing)
    await site.vipu.create_user(thing.name)


async def _key(site: Site, thing: Thing) -> None:
    await _user(site, thing)
    await site.vipu.create_access_key(thing.name, thing.name, DIGEST)


async def _user_is_there(site: Site, thing: Thing) -> bool:
    return await site.vipu.user(thing.name) is not None


async def _user_sees(site: Site, thing: Thing) -> bool:
    user = await site.vipu.user(thing.name)
    return user is not None and user.allocations == {thing.name}


async def _key_is_there(site: Site, thing: Thing) -> bool:
    user = await site.vipu.user(thing.name)
    return user is not None and thing.name in user.keys


async def _network_is_there(site: Site, thing: Thing) -> bool:
    return await site.networks.get(thing.name) is not None


async def _server_is_there(site: Site, thing: Thing) -> bool:
    host = await site.hosts.get(thing.host)
    return host.server is not None and host.state is not HostState.WIPING


async def _is_on(site: Site, thing: Thing) -> bool:
    return (await site.machines.get(thing.machine)).PowerState == "On"


async def _allocation_is_there(site: Site, thing: Thing) -> bool:
    return await site.vipu.allocation(thing.name) is not None


async def _partition_is_there(site: Site, thing: Thing) -> bool:
    return thing.name in await site.vipu.list_partitions(thing.name)


async def _test_is_there(site: Site, thing: Thing) -> bool:
    return await site.vipu.cluster_test(thing.name) is not None


Prepare = Callable[[Site, Thing], Awaitable[None]]
Look = Callable[[Site, Thing], Awaitable[bool]]


@dataclass(frozen=True)
class CallCase:
    """`look` tells whether the object is there; `makes`: what it tells once the call had its effect, None for a read.

    `target` is the object by which the site's fault rules know the call. `missing`: what the call ends in when the
    site says that it does not know the object: an answer, or the name of the error.
    """

    name: str
    call: Call
    transport: Transport
    make: Callable[[Sites, Site, Thing], Awaitable[Answer]]
    prepare: Prepare = _nothing
    look: Look | None = None
    makes: bool | None = None
    missing: str = "refused"
    target: Callable[[Thing], str] = field(default=lambda thing: thing.name)


def _host(thing: Thing) -> str:
    return thing.host


def _machine(thing: Thing) -> str:
    return thing.machine


def _none(thing: Thing) -> str:
    return ""


CASES = (
    CallCase("inventory", Call.GET_INVENTORY, "http", lambda sites, _s, _t: sites.inventory(), target=_none),
    CallCase(
        "networks.get", Call.GET_NETWORK, "http", lambda _, s, t: s.networks.get(t.name), _network, missing="None"
    ),
    CallCase("networks.list", Call.LIST_NETWORKS, "http", lambda _, s, _t: s.networks.list(REGION), target=_none),
    CallCase(
        "networks.put",
        Call.PUT_NETWORK,
        "http",
        lambda _, s, t: s.networks.put(t.name, t.network),
        look=_network_is_there,
        makes=True,
    ),
    CallCase(
        "networks.delete",
        Call.DELETE_NETWORK,
        "http",
        lambda _, s, t: s.networks.delete(t.name),
        _network,
        look=_network_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase("hosts.get", Call.GET_HOST, "http", lambda _, s, t: s.hosts.get(t.host), target=_host),
    CallCase("hosts.list", Call.LIST_HOSTS, "http", lambda _, s, _t: s.hosts.list(REGION), target=_none),
    CallCase(
        "hosts.put_server",
        Call.PUT_SERVER,
        "http",
        lambda _, s, t: s.hosts.put_server(t.host, t.server),
        _network,
        look=_server_is_there,
        makes=True,
        target=_host,
    ),
    CallCase(
        "hosts.delete_server",
        Call.DELETE_SERVER,
        "http",
        lambda _, s, t: s.hosts.delete_server(t.host, t.name),
        _server,
        look=_server_is_there,
        makes=False,
        missing="ok",
        target=_host,
    ),
    CallCase("machines.get", Call.GET_MACHINE, "http", lambda _, s, t: s.machines.get(t.machine), target=_machine),
    CallCase(
        "machines.power_on",
        Call.RESET_MACHINE,
        "http",
        lambda _, s, t: s.machines.power_on(t.machine, t.name),
        _machine_off,
        look=_is_on,
        makes=True,
        target=_machine,
    ),
    CallCase(
        "machines.power_off",
        Call.RESET_MACHINE,
        "http",
        lambda _, s, t: s.machines.power_off(t.machine, t.name),
        look=_is_on,
        makes=False,
        target=_machine,
    ),
    CallCase(
        "vipu.partition_status",
        Call.GET_PARTITION_STATUS,
        "user",
        lambda _, s, t: s.vipu.partition_status(t.name),
        _partition,
        missing="None",
    ),
    CallCase(
        "vipu.list_partitions",
        Call.LIST_PARTITIONS,
        "user",
        lambda _, s, t: s.vipu.list_partitions(t.name),
        _partition,
        missing="empty",
    ),
    CallCase(
        "vipu.all_partitions",
        Call.LIST_PARTITIONS,
        "user",
        lambda _, s, _t: s.vipu.all_partitions(),
        missing="empty",
        target=_none,
    ),
    CallCase(
        "vipu.partitions_of",
        Call.LIST_PARTITIONS,
        "user",
        lambda _, s, t: s.vipu.partitions_of(t.name),
        _partition,
        missing="empty",
    ),
    CallCase(
        "vipu.ipuof_config",
        Call.GET_IPUOF_CONFIG,
        "user",
        lambda _, s, t: s.vipu.ipuof_config(t.name, PartitionShape(IPUS_OF_A_MACHINE)),
        _partition,
        missing="None",
    ),
    CallCase(
        "vipu.reset_partition",
        Call.RESET_PARTITION,
        "user",
        lambda _, s, t: s.vipu.reset_partition(t.name, relocatable=False),
        _partition,
        look=_partition_is_there,
        missing="ok",
    ),
    CallCase(
        "vipu.remove_partition",
        Call.REMOVE_PARTITION,
        "user",
        lambda _, s, t: s.vipu.remove_partition(t.name),
        _partition,
        look=_partition_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.create_partition",
        Call.CREATE_PARTITION,
        "user",
        lambda _, s, t: s.vipu.create_partition(t.partition),
        _allocation,
        look=_partition_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_partitions",
        Call.REMOVE_PARTITIONS,
        "admin",
        lambda _, s, t: s.vipu.remove_partitions(t.name),
        _partition,
        look=_partition_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.allocation",
        Call.GET_ALLOCATION,
        "admin",
        lambda _, s, t: s.vipu.allocation(t.name),
        _allocation,
        missing="None",
    ),
    CallCase(
        "vipu.list_allocations",
        Call.LIST_ALLOCATIONS,
        "admin",
        lambda _, s, _t: s.vipu.list_allocations(""),
        missing="empty",
        target=_none,
    ),
    CallCase(
        "vipu.create_allocation",
        Call.CREATE_ALLOCATION,
        "admin",
        lambda _, s, t: s.vipu.create_allocation(t.allocation),
        look=_allocation_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_allocation",
        Call.REMOVE_ALLOCATION,
        "admin",
        lambda _, s, t: s.vipu.remove_allocation(t.name),
        _allocation,
        look=_allocation_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.cluster_test",
        Call.GET_CLUSTER_TEST,
        "admin",
        lambda _, s, t: s.vipu.cluster_test(t.name),
        _test,
        missing="None",
    ),
    CallCase(
        "vipu.start_cluster_test",
        Call.TEST_CLUSTER,
        "admin",
        lambda _, s, t: s.vipu.start_cluster_test(t.name, t.name),
        _allocation,
        look=_test_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.links", Call.LIST_LINKS, "admin", lambda _, s, t: s.vipu.links(t.name), _allocation, missing="empty"
    ),
    CallCase("vipu.user", Call.GET_USER, "admin", lambda _, s, t: s.vipu.user(t.name), _user, missing="None"),
    CallCase(
        "vipu.create_user",
        Call.CREATE_USER,
        "admin",
        lambda _, s, t: s.vipu.create_user(t.name),
        look=_user_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.set_user_allocation",
        Call.SET_USER_ALLOCATIONS,
        "admin",
        lambda _, s, t: s.vipu.set_user_allocation(t.name, t.name),
        _user,
        look=_user_sees,
        makes=True,
    ),
    CallCase(
        "vipu.remove_user",
        Call.REMOVE_USER,
        "admin",
        lambda _, s, t: s.vipu.remove_user(t.name),
        _user,
        look=_user_is_there,
        makes=False,
        missing="ok",
    ),
    CallCase(
        "vipu.create_access_key",
        Call.CREATE_ACCESS_KEY,
        "admin",
        lambda _, s, t: s.vipu.create_access_key(t.name, t.name, DIGEST),
        _user,
        look=_key_is_there,
        makes=True,
    ),
    CallCase(
        "vipu.remove_access_key",
        Call.REMOVE_ACCESS_KEY,
        "admin",
        lambda _, s, t: s.vipu.remove_access_key(t.name, t.name),
        _key,
        look=_key_is_there,
        makes=False,
        missing="ok",
    ),
)
