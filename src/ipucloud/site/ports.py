"""What the control plane needs of a site, as protocols: implemented by the real clients and by a simulated world.

Reads return None for what does not exist. A `put` or `create` of an identical existing object, and a `delete` or
`remove` of a missing one, succeed: every step can run again from its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

from ipucloud.kernel.vipu import GatewayRouting, IpuNumber, PartitionOperationState, PartitionShape, Routing, SyncType
from ipucloud.site.address_ports import Addresses
from ipucloud.site.storage_ports import Snapshots, Volumes
from ipucloud.wire.inventory import Inventory
from ipucloud.wire.links import LinkKind, LinkState
from ipucloud.wire.redfish import RedfishLogEntry, RedfishSystem
from ipucloud.wire.site import Console, Host, Job, JobRequest, LoginKey, Network, NetworkSpec, S3Remote, ServerSpec


class PartitionState(StrEnum):
    """A partition's ready state. `unknown` is a value that this version does not know: wait and change nothing."""

    PENDING = "pending"
    ACTIVE = "active"
    REMOVED = "removed"
    ERROR = "error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PartitionStatus:
    """What a controller says about a partition; `errors` are its own sentences, as plain text.

    It resets a partition in error by itself, `max_resets` times at most, and did so `resets` times, at `last_reset_at`
    for the last time.
    """

    state: PartitionState
    errors: tuple[str, ...] = ()
    operation: PartitionOperationState = PartitionOperationState.UNKNOWN
    resets: int = 0
    max_resets: int = 0
    last_reset_at: datetime | None = None

    @property
    def resets_itself(self) -> bool:
        """Whether it is in error and its controller will reset it again."""
        return self.state is PartitionState.ERROR and self.resets < self.max_resets


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition with its allocation and its status."""

    id: str
    allocation_id: str
    state: PartitionState


@dataclass(frozen=True, slots=True)
class PartitionRequest:
    """A partition to make of the IPUs of an allocation; None leaves the choice to the controller."""

    id: str
    allocation_id: str
    size: int
    gcds: int
    reconfigurable: bool
    replicas: int | None = None
    segments: int | None = None
    sync_type: SyncType | None = None
    routing: Routing | None = None
    gateway_routing: GatewayRouting | None = None
    auto_reset: bool = True
    relocatable: bool = False


@dataclass(frozen=True, slots=True)
class PartitionIpu:
    """An IPU of a partition: its physical number, and its logical domain and number there."""

    physical: IpuNumber
    segment: int
    number: int


@dataclass(frozen=True, slots=True)
class SeenPartition:
    """A partition as listed by its controller: everything of `shape` is filled in, except how it resets."""

    id: str
    state: PartitionState
    shape: PartitionShape
    ipus: tuple[PartitionIpu, ...]


@dataclass(frozen=True, slots=True)
class IpuofDevice:
    """How a program reaches one IPU of its partition; the names are those of the IPUoF configuration file."""

    ip: str
    server_port: int
    rdma_port: int
    device_id: int
    ipulink_segment_id: int
    routing_id: int
    ipu_arch_id: int
    ipu_id: int
    chip_id: str
    gwsw_version: str
    ipum_sw_version: str


@dataclass(frozen=True, slots=True)
class IpuofGcd:
    """The contents of an IPUoF configuration file of one GCD."""

    devices: tuple[IpuofDevice, ...]
    attributes: Mapping[str, str]


class UserEndpoint(NamedTuple):
    """Where the customer of an allocation calls its controller."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Allocation:
    """Whole machines of one V-IPU cluster, reserved under one name. `agent_ids` are machine names.

    `endpoint`: its user endpoint; None when the controller reports none.
    """

    id: str
    cluster_id: str
    agent_ids: frozenset[str]
    endpoint: UserEndpoint | None = None


class TestState(StrEnum):
    __test__ = False

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ClusterTest:
    """`failures` names each failed test and link."""

    state: TestState
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VipuUser:
    """A user of a secure controller: the allocations that the user sees, and the ids of the user's access keys."""

    id: str
    allocations: frozenset[str]
    everything: bool
    keys: frozenset[str]


@dataclass(frozen=True, slots=True)
class Link:
    """A link between the machines `ends` (twice the same: among the IPUs of one), with its current state."""

    kind: LinkKind
    ends: tuple[str, str]
    state: LinkState


@dataclass(frozen=True, slots=True)
class Agent:
    """A machine as its V-IPU controller sees it; `pod` and `slot`, its place in the cabling, if it names one."""

    id: str
    reachable: bool
    pod: str | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """What a V-IPU controller says that it runs."""

    version: str


class Vipu(Protocol):
    """A region's V-IPU controller: the published user service and the administration of allocations.

    Only within its allocation is a partition's id its own. Every call but `release` raises SiteUnknown while the
    controller's version is known and not supported.
    """

    async def release(self) -> Release | None:
        """The release that the controller runs; None without a controller."""

    async def partition_status(self, allocation_id: str, partition_id: str) -> PartitionStatus | None: ...
    async def list_partitions(self, allocation_id: str) -> Sequence[str]: ...
    async def all_partitions(self) -> Sequence[Partition]:
        """Every partition of the controller, customers' own included."""

    async def partitions_of(self, allocation_id: str) -> Sequence[SeenPartition]:
        """Every partition of an allocation, in full."""

    async def create_partition(self, request: PartitionRequest) -> bool:
        """False when the allocation has a partition with this id already."""

    async def reset_partition(self, allocation_id: str, partition_id: str, *, relocatable: bool) -> bool:
        """Start a reset; False when the partition does not exist. `relocatable`: it may move to other IPUs."""

    async def remove_partition(self, allocation_id: str, partition_id: str) -> None:
        """By force: also when machines of the partition do not answer."""

    async def ipuof_config(
        self, allocation_id: str, partition_id: str, shape: PartitionShape
    ) -> Sequence[IpuofGcd] | None:
        """The connection data of a partition of this shape, GCD by GCD; None when there is none now."""

    async def allocation(self, allocation_id: str) -> Allocation | None: ...
    async def list_allocations(self, cluster_id: str) -> Sequence[Allocation]:
        """The allocations of one V-IPU cluster; of all when `cluster_id` is empty."""

    async def create_allocation(self, allocation: Allocation) -> None:
        """The controller gives it a user endpoint, whatever that of `allocation` is."""

    async def remove_allocation(self, allocation_id: str) -> None: ...
    async def remove_partitions(self, allocation_id: str) -> None:
        """All of an allocation, including customers' own, by force: also when machines do not answer."""

    async def cluster_test(self, test_id: str) -> ClusterTest | None: ...
    async def start_cluster_test(self, test_id: str, allocation_id: str) -> None: ...
    async def links(self, allocation_id: str) -> Sequence[Link]:
        """The links among the machines of an allocation."""

    async def agents(self) -> Sequence[Agent]:
        """Every agent of the controller."""

    async def impaired_links(self) -> Sequence[Link]:
        """The links of all machines that are not up although both ends answer."""

    async def user(self, user_id: str) -> VipuUser | None: ...
    async def list_users(self) -> Sequence[VipuUser]:
        """Every user of a secure controller."""

    async def create_user(self, user_id: str) -> None:
        """Create a user who sees nothing and has no key."""

    async def set_user_allocation(self, user_id: str, allocation_id: str) -> None:
        """Let the user see only this allocation."""

    async def remove_user(self, user_id: str) -> None:
        """With all their keys."""

    async def create_access_key(self, user_id: str, key_id: str, sha256: str) -> None:
        """Create a key whose secret the caller chose; only its digest is sent."""

    async def remove_access_key(self, user_id: str, key_id: str) -> None: ...


class Networks(Protocol):
    """Tenant networks."""

    async def get(self, name: str) -> Network | None: ...
    async def list(self, region: str) -> Sequence[Network]: ...
    async def put(self, name: str, spec: NetworkSpec) -> Network: ...
    async def delete(self, name: str) -> None: ...


class Hosts(Protocol):
    """Servers that become Poplar servers."""

    async def get(self, host: str) -> Host: ...
    async def list(self, region: str) -> Sequence[Host]:
        """As `get` for each, except that IPUs are not counted: that needs a login."""

    async def put_server(self, host: str, spec: ServerSpec) -> Host: ...
    async def delete_server(self, host: str, name: str) -> None: ...
    async def switch_on(self, host: str, server: str, network: str, environment: Mapping[str, str]) -> Host:
        """Boot the server with this environment for its logins, in this tenant network only.

        A server that already runs there is left alone; one that ran for another network is restarted. Raises SiteBusy
        while the host has another server, or is not in the network.
        """

    async def switch_off(self, host: str, server: str, network: str) -> Host:
        """For the tenant of `network`; disk, host key and address stay.

        Raises SiteBusy while the host has another server, or is in another tenant's network.
        """

    async def restart(self, host: str, server: str, network: str, *, boot_id: str, hard: bool) -> Host:
        """Start the server of this tenant network again, unless it has started again since the boot `boot_id`.

        `hard`: by cutting its power. Raises SiteBusy after another start, and as `switch_off` does.
        """

    async def put_keys(self, host: str, server: str, network: str, keys: Sequence[str], *, revision: int) -> Host:
        """Let these keys, and no others, log in to the server of this tenant network, which may be off.

        Raises SiteBusy once the server has had a later revision of its keys, and as `switch_off` does.
        """

    async def put_login_key(self, host: str, name: str, key: LoginKey) -> Host:
        """Let one more key log in for some seconds; a later call of the same name can only make it fewer.

        The site ends it by itself. Raises SiteBusy while the host does not run, and as `switch_off` does.
        """

    async def put_s3(
        self, host: str, server: str, network: str, connections: Sequence[S3Remote], *, revision: int
    ) -> Host:
        """Give the server of this tenant network access to these buckets, and to no others.

        Raises SiteBusy once the server has had a later revision of them, and as `switch_off` does.
        """

    async def put_preemption(
        self, host: str, server: str, network: str, preempt_at: datetime | None, *, revision: int
    ) -> Host:
        """Say on the running server of this tenant network when its cluster is preempted; None: it is not.

        Raises SiteBusy once the server has had a later revision of that, while it does not run, and as `switch_off`
        does.
        """

    async def rebuild(self, host: str, spec: ServerSpec, *, disk: Literal["keep", "wipe"]) -> Host:
        """Write the server of this name and tenant network again, unless it has this generation already.

        `disk`: whether `/home` and the host key stay, or nothing does. Raises SiteBusy once it has had this generation
        with another specification, or a later one; and as `switch_off` does.
        """

    async def put_job(self, host: str, job: str, request: JobRequest) -> Job:
        """Start a program on a server that runs, unless one of this name was started there before.

        Raises SiteBusy while the host does not run, and as `switch_off` does.
        """

    async def get_job(self, host: str, job: str, *, server: str, network: str, log_from: int) -> Job | None:
        """The program with its log from this byte on; None where the server knows no such job. Raises as `put_job`."""

    async def stop_job(self, host: str, job: str, *, server: str, network: str) -> Job:
        """End the program, or keep it from starting: a `put_job` that arrives later finds it ended. Raises as that."""

    async def console(self, host: str, server: str, network: str, *, after: int) -> Console | None:
        """The boots whose console was written to after so many bytes; the server may be off.

        None where the site does not know the server; raises SiteRefused for an answer that is too large, and as
        `switch_off` does.
        """

    async def ssh_host_key(self, address: str, port: int) -> str | None:
        """The key that the server actually presents, as an OpenSSH public key line; None while it does not answer."""


class Machines(Protocol):
    """IPU machines through their BMC."""

    async def get(self, machine: str) -> RedfishSystem: ...
    async def list(self, region: str) -> Sequence[RedfishSystem]:
        """Every machine of a region whose BMC answers."""

    async def log(self, machine: str) -> Sequence[RedfishLogEntry]:
        """What the machine's BMC logged, oldest first; it keeps no more than it has memory for."""

    async def power_on(self, machine: str, network: str) -> None: ...
    async def power_off(self, machine: str, network: str) -> None:
        """For the tenant of `network`: raises SiteBusy while the machine is in another tenant's network.

        A machine's name does not identify its tenant: without this check an old request could affect the next one.
        """


@dataclass(frozen=True, slots=True)
class Site:
    """One region's ports, for the duration of one reconcile pass."""

    vipu: Vipu
    networks: Networks
    hosts: Hosts
    machines: Machines
    volumes: Volumes
    snapshots: Snapshots
    addresses: Addresses


class VipuAddress(NamedTuple):
    """The administration endpoint of a controller. `secure`: it authenticates callers.

    `authority`: the certificates, PEM, that it is verified with; None: it speaks plaintext. `controller`: its name.
    `cluster_test`: it can test clusters. `version`: as it said last; None: it was not asked yet.
    """

    host: str
    admin_port: int
    secure: bool = False
    authority: str | None = None
    controller: str = ""
    cluster_test: bool = True
    version: str | None = None


Budget = Callable[[], float]
"""Seconds that a call may still take; raises when the right to make it has expired. Called right before every call."""


class Simulation(Protocol):
    """What can be asked of a simulated site only."""

    async def set_fault(self, fault: str, kind: str, name: str, link: str | None, *, broken: bool) -> None:
        """Break something, or repair it. Asking twice has the effect of asking once; `fault` names it.

        `kind`: `machine`, `link`, `host` or `controllers`. Raises SiteError.
        """


class Sites(Protocol):
    """Access to every region's site."""

    def at(self, vipu: VipuAddress | None, budget: Budget) -> Site:
        """A region's ports; without an address its `vipu` has nothing and refuses to make anything."""

    async def inventory(self) -> Inventory: ...
