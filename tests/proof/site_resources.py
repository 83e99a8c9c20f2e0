"""What a call to a site acts on: how it is brought about, and how to observe whether it is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import TypeVar

import asyncssh

from ipucloud.site.ports import Site
from ipucloud.site.vipu_ports import Allocation, PartitionRequest
from ipucloud.wire.inventory import Inventory, SiteRegion
from ipucloud.wire.site import Host, HostState, LoginKey, NetworkSpec, S3Remote, ServerSpec
from ipucloud.wire.storage import AddressSpec, SnapshotSpec, VolumeSpec

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

    def resource(self) -> Resource:
        machine, cluster = next(self._machines)
        return Resource(f"n{next(self._numbers)}", machine, cluster, next(self._hosts))


@dataclass(frozen=True)
class Resource:
    """What one case acts on: a fresh name of constant length, and hardware of its own."""

    name: str
    machine: str
    vipu_cluster: str
    host: str

    @property
    def network(self) -> NetworkSpec:
        return NetworkSpec(region=REGION, machines=[self.machine], hosts=[self.host])

    @property
    def volume(self) -> VolumeSpec:
        return VolumeSpec(region=REGION, size_gib=1)

    @property
    def address(self) -> AddressSpec:
        return AddressSpec(region=REGION)

    @property
    def snapshot(self) -> SnapshotSpec:
        return SnapshotSpec(region=REGION, volume=self.name)

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


Prepare = Callable[[Site, Resource], Awaitable[None]]
Observation = Callable[[Site, Resource], Awaitable[bool]]


@dataclass(frozen=True)
class Thing:
    """How it is brought about, and how to observe that it is there."""

    make: Prepare
    is_there: Observation


T = TypeVar("T")


def _known(
    look: Callable[[Site, Resource], Awaitable[T | None]], shows: Callable[[T, Resource], bool] = lambda *_: True
) -> Observation:
    """Whether the site answers this with what it knows of the object, and shows it so."""

    async def observe(site: Site, resource: Resource) -> bool:
        answer = await look(site, resource)
        return answer is not None and shows(answer, resource)

    return observe


def _of_host(shows: Callable[[Host], bool]) -> Observation:
    """Whether the host of the case is shown so."""
    return _known(lambda site, resource: site.hosts.get(resource.host), lambda host, _: shows(host))


async def nothing(site: Site, resource: Resource) -> None:
    """The call needs nothing to be there."""


async def network(site: Site, resource: Resource) -> None:
    await site.networks.put(resource.name, resource.network)


async def server(site: Site, resource: Resource) -> None:
    await network(site, resource)
    await site.hosts.put_server(resource.host, resource.server)


async def server_off(site: Site, resource: Resource) -> None:
    await server(site, resource)
    await site.hosts.switch_off(resource.host, resource.name, resource.name)


BOOTS: dict[str, str | None] = {}
"""What a case found as the boot of a host, before it restarts its server."""


async def server_to_restart(site: Site, resource: Resource) -> None:
    await server(site, resource)
    BOOTS[resource.host] = (await site.hosts.get(resource.host)).boot_id


async def has_restarted(site: Site, resource: Resource) -> bool:
    return (await site.hosts.get(resource.host)).boot_id != BOOTS[resource.host]


LOGIN = asyncssh.generate_private_key("ssh-ed25519")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"
_PLACE = {"endpoint": "https://s3.example", "region": "eu", "bucket": "data", "prefix": ""}
BUCKET = S3Remote(name="lake", **_PLACE, access_key_id="key", secret="very-secret")
SOURCE = "203.0.113.0/24"
PREEMPT_AT = datetime(2026, 5, 4, 6, 10, tzinfo=UTC)

has_keys = _of_host(lambda host: host.server is not None and host.server.ssh_authorized_keys == [KEY])
has_bucket = _of_host(lambda host: host.s3 is not None and host.s3.connections == [BUCKET.name])
has_source = _of_host(lambda host: host.sources is not None and host.sources.allowed_sources == [SOURCE])
is_told = _of_host(lambda host: host.preemption is not None and host.preemption.preempt_at == PREEMPT_AT)
is_rebuilt = _of_host(lambda host: host.server is not None and host.server.generation == 2)
server_is_there = _of_host(lambda host: host.server is not None and host.state is not HostState.WIPING)
server_is_on = _of_host(lambda host: host.state is not HostState.OFF)


def login_key(resource: Resource) -> LoginKey:
    public = LOGIN.export_public_key().decode()
    return LoginKey(server=resource.name, network=resource.name, public_key=public, seconds=300)


async def login_key_logs_in(site: Site, resource: Resource) -> bool:
    there = (await site.hosts.get(resource.host)).ssh
    assert there is not None
    try:
        async with asyncssh.connect(
            there.host, there.port, username=there.user, known_hosts=None, client_keys=[LOGIN], config=None
        ):
            return True
    except asyncssh.PermissionDenied:
        return False


async def job_is_known(site: Site, resource: Resource) -> bool:
    at = {"server": resource.name, "network": resource.name}
    return await site.hosts.get_job(resource.host, "job-1", **at, log_from=0) is not None


async def machine_off(site: Site, resource: Resource) -> None:
    await site.machines.power_off(resource.machine, resource.name)


async def allocation(site: Site, resource: Resource) -> None:
    await site.vipu.create_allocation(resource.allocation)


async def partition(site: Site, resource: Resource) -> None:
    await allocation(site, resource)
    await site.vipu.create_partition(resource.partition)


async def cluster_test(site: Site, resource: Resource) -> None:
    await allocation(site, resource)
    await site.vipu.start_cluster_test(resource.name, resource.name)


async def user(site: Site, resource: Resource) -> None:
    await allocation(site, resource)
    await site.vipu.create_user(resource.name)


async def key(site: Site, resource: Resource) -> None:
    await user(site, resource)
    await site.vipu.create_access_key(resource.name, resource.name, DIGEST)


async def is_on(site: Site, resource: Resource) -> bool:
    return (await site.machines.get(resource.machine)).PowerState == "On"


async def partition_is_there(site: Site, resource: Resource) -> bool:
    return resource.name in await site.vipu.list_partitions(resource.name)


async def volume(site: Site, resource: Resource) -> None:
    await site.volumes.put(resource.name, resource.volume)


async def address(site: Site, resource: Resource) -> None:
    await site.addresses.put(resource.name, resource.address)


async def snapshot(site: Site, resource: Resource) -> None:
    await volume(site, resource)
    await site.snapshots.put(resource.name, resource.snapshot)


user_sees = _known(
    lambda site, resource: site.vipu.user(resource.name), lambda user, resource: user.allocations == {resource.name}
)
volume_is_attached = _known(
    lambda site, resource: site.volumes.get(resource.name), lambda volume, _: volume.attachment is not None
)
address_is_attached = _known(
    lambda site, resource: site.addresses.get(resource.name), lambda address, _: address.attachment is not None
)

NETWORK = Thing(network, _known(lambda site, resource: site.networks.get(resource.name)))
SERVER = Thing(server, server_is_there)
ALLOCATION = Thing(allocation, _known(lambda site, resource: site.vipu.allocation(resource.name)))
PARTITION = Thing(partition, partition_is_there)
CLUSTER_TEST = Thing(cluster_test, _known(lambda site, resource: site.vipu.cluster_test(resource.name)))
USER = Thing(user, _known(lambda site, resource: site.vipu.user(resource.name)))
ACCESS_KEY = Thing(
    key, _known(lambda site, resource: site.vipu.user(resource.name), lambda user, resource: resource.name in user.keys)
)
VOLUME = Thing(volume, _known(lambda site, resource: site.volumes.get(resource.name)))
SNAPSHOT = Thing(snapshot, _known(lambda site, resource: site.snapshots.get(resource.name)))
ADDRESS = Thing(address, _known(lambda site, resource: site.addresses.get(resource.name)))
