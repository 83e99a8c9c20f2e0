"""The controller's state as it stands in its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from pydantic import TypeAdapter

from ipucloud.laboratory.simulator.hardware import IPUS_PER_MACHINE


class Ready(StrEnum):
    """The ready state of a partition, by its name on the wire."""

    PENDING = "PS_PENDING"
    ACTIVE = "PS_ACTIVE"
    ERROR = "PS_ERROR"


class Operation(StrEnum):
    """The operation state of a partition, by its name on the wire."""

    IDLE = "POS_IDLE"
    CREATING = "POS_CREATING"
    REMOVING = "POS_REMOVING"
    RESETTING = "POS_RESETTING"
    FAILED = "POS_FAILED"


@dataclass(frozen=True, order=True)
class Block:
    """An aligned run of `size` IPUs (a power of two) in one IPU-Link domain, from place `start` on."""

    domain: int
    start: int
    size: int

    @property
    def mask(self) -> int:
        return ((1 << self.size) - 1) << self.start

    @property
    def slots(self) -> range:
        """The slots of the machines that the block touches."""
        last = self.start + self.size - 1
        return range(self.start // IPUS_PER_MACHINE, last // IPUS_PER_MACHINE + 1)


@dataclass(frozen=True)
class Shape:
    """What a partition is, without where it is. Enumerations are names of the wire."""

    size: int
    gcds: int
    replicas: int
    segments: int
    reconfigurable: bool
    sync_type: str
    routing: str
    gw_routing: str


@dataclass
class Allocation:
    id: str
    cluster_id: str
    agent_ids: list[str]


@dataclass
class Partition:
    """A partition. `due` is when the operation under way ends, or when a failed partition resets itself.

    `forced` belongs to a removal: it succeeds whatever the machines say. The operation under way, and so many more,
    end in the error `spoiled`.
    """

    id: str
    allocation_id: str
    cluster_id: str
    shape: Shape
    blocks: list[Block]
    ready: Ready
    operation: Operation
    due: float | None
    auto_reset: bool
    relocatable: bool
    forced: bool = False
    spoiled: str = ""
    spoils: int = 0
    errors: list[str] = field(default_factory=list)
    retries: int = 0
    last_auto_reset: float | None = None

    @property
    def key(self) -> str:
        """Its key among all partitions of the controller: only within an allocation is its id its own."""
        return f"{self.allocation_id}/{self.id}"


@dataclass
class LinkResult:
    """The outcome of one test on one link between two agents (or inside one), or on one agent when it has no name."""

    from_agent: str
    to_agent: str
    passed: bool
    detail: str
    name: str = ""


@dataclass
class KindResult:
    kind: str
    passed: bool
    detail: str
    links: list[LinkResult]


@dataclass
class ClusterTest:
    """A test of an allocation's machines. `results` is empty while it runs."""

    id: str
    allocation_id: str
    kinds: list[str]
    due: float | None
    results: list[KindResult] = field(default_factory=list)


@dataclass
class ClusterRecord:
    """A cluster as an administrator made it."""

    id: str
    agent_ids: list[str]
    torus: bool
    looped: bool


@dataclass
class FleetChanges:
    """How the fleet differs from the inventory."""

    removed_agents: list[str] = field(default_factory=list)
    removed_clusters: list[str] = field(default_factory=list)
    clusters: dict[str, ClusterRecord] = field(default_factory=dict)


@dataclass
class User:
    """Who may call a secure controller. `keys` holds the SHA-256 digest of every access key, by its id."""

    id: str
    allocation_ids: list[str]
    all_allocations: bool
    keys: dict[str, str] = field(default_factory=dict)


@dataclass
class State:
    """The whole file. `partitions` are by their keys."""

    version: int = 1
    fleet: FleetChanges = field(default_factory=FleetChanges)
    users: dict[str, User] = field(default_factory=dict)
    allocations: dict[str, Allocation] = field(default_factory=dict)
    partitions: dict[str, Partition] = field(default_factory=dict)
    tests: dict[str, ClusterTest] = field(default_factory=dict)


STATE = TypeAdapter(State)
