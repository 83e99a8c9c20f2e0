"""What a call to a site acts on: how it is brought about, and how to look whether it is there."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from ipucloud.site.ports import Allocation, PartitionRequest, Site
from ipucloud.wire.site import HostState, Inventory, NetworkSpec, ServerSpec, SiteRegion

REGION = "luxembourg-2"
IPUS_OF_A_MACHINE = 4
DIGEST = "0" * 64


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


async def nothing(site: Site, thing: Thing) -> None:
    """The call needs nothing to be there."""


async def network(site: Site, thing: Thing) -> None:
    await site.networks.put(thing.name, thing.network)


async def server(site: Site, thing: Thing) -> None:
    await network(site, thing)
    await site.hosts.put_server(thing.host, thing.server)


async def server_off(site: Site, thing: Thing) -> None:
    await server(site, thing)
    await site.hosts.switch_off(thing.host, thing.name, thing.name)


async def machine_off(site: Site, thing: Thing) -> None:
    await site.machines.power_off(thing.machine, thing.name)


async def allocation(site: Site, thing: Thing) -> None:
    await site.vipu.create_allocation(thing.allocation)


async def partition(site: Site, thing: Thing) -> None:
    await allocation(site, thing)
    await site.vipu.create_partition(thing.partition)


async def cluster_test(site: Site, thing: Thing) -> None:
    await allocation(site, thing)
    await site.vipu.start_cluster_test(thing.name, thing.name)


async def user(site: Site, thing: Thing) -> None:
    await allocation(site, thing)
    await site.vipu.create_user(thing.name)


async def key(site: Site, thing: Thing) -> None:
    await user(site, thing)
    await site.vipu.create_access_key(thing.name, thing.name, DIGEST)


async def user_is_there(site: Site, thing: Thing) -> bool:
    return await site.vipu.user(thing.name) is not None


async def user_sees(site: Site, thing: Thing) -> bool:
    user = await site.vipu.user(thing.name)
    return user is not None and user.allocations == {thing.name}


async def key_is_there(site: Site, thing: Thing) -> bool:
    user = await site.vipu.user(thing.name)
    return user is not None and thing.name in user.keys


async def network_is_there(site: Site, thing: Thing) -> bool:
    return await site.networks.get(thing.name) is not None


async def server_is_there(site: Site, thing: Thing) -> bool:
    host = await site.hosts.get(thing.host)
    return host.server is not None and host.state is not HostState.WIPING


async def server_is_on(site: Site, thing: Thing) -> bool:
    return (await site.hosts.get(thing.host)).state is not HostState.OFF


async def is_on(site: Site, thing: Thing) -> bool:
    return (await site.machines.get(thing.machine)).PowerState == "On"


async def allocation_is_there(site: Site, thing: Thing) -> bool:
    return await site.vipu.allocation(thing.name) is not None


async def partition_is_there(site: Site, thing: Thing) -> bool:
    return thing.name in await site.vipu.list_partitions(thing.name)


async def cluster_test_is_there(site: Site, thing: Thing) -> bool:
    return await site.vipu.cluster_test(thing.name) is not None
