"""What the control plane needs of a V-IPU controller; part of `ipucloud.site.ports`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from ipucloud.kernel.vipu import GatewayRouting, IpuNumber, PartitionOperationState, PartitionShape, Routing, SyncType
from ipucloud.wire.inventory import LinkKind, LinkState


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


SUPPORTED = r"v?1\.(1[4-9]|[2-9][0-9]|[1-9][0-9]{2,3})([.+-].*)?"
"""Versions from 1.14 on, as a regular expression of Python and PostgreSQL: before, the client was `vipu-cli`."""

_SUPPORTED = re.compile(SUPPORTED, re.ASCII)


def unsupported(version: str | None) -> str | None:
    """Why a controller of this version is not used; None if it is, or if its version is not known yet."""
    if version is None or _SUPPORTED.fullmatch(version):
        return None
    return (
        f"it runs V-IPU {version}, which this release of ipucloud does not support: install V-IPU 1.14 or a later 1.x"
    )
