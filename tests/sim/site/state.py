"""What a site is at one instant, and how long changes take.

Records never change; the state holds new ones, so that an old state can be kept.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise, product
from typing import Literal, TypeVar

from ipucloud.site.vipu_ports import Allocation, PartitionState, VipuUser
from ipucloud.wire.inventory import LinkState
from ipucloud.wire.site import HostState, NetworkSpec, NetworkState, ServerSpec
from tests.sim.faults import Faults

IPUS_PER_MACHINE = 4
Power = Literal["On", "Off", "PoweringOn", "PoweringOff"]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Machine:
    """An IPU machine. `due`: when the change of power under way ends."""

    power: Power = "Off"
    due: float | None = None
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Host:
    """A host. `set_up_at`: from when on its server counts its IPUs. `died`: while its server ran, or restarted.

    `boots`: how often it has started; `rebuilds`: how often its server was rebuilt.
    """

    state: HostState = HostState.CLEAN
    server: ServerSpec | None = None
    due: float | None = None
    set_up_at: float = 0.0
    fails: bool = False
    died: bool = False
    boots: int = 0
    rebuilds: int = 0


@dataclass(frozen=True, slots=True)
class Network:
    spec: NetworkSpec
    state: NetworkState
    due: float | None


class Doing(Enum):
    """What a partition is in the middle of."""

    NOTHING = "idle"
    STARTING = "creating or resetting"
    REMOVING = "removing"


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition on machines of its allocation, from their IPU `first` on. `fails`: how the start under way ends.

    `resets`: how many more times the controller resets it by itself when it failed; `due` is then the next time.
    """

    allocation: str
    agents: frozenset[str]
    ipus: int
    state: PartitionState
    doing: Doing
    due: float | None
    fails: bool = False
    resets: int = 3
    first: int = 0

    def devices(self) -> list[tuple[str, int]]:
        """Its IPUs: each machine's name, and the number there."""
        every_ipu = [*product(sorted(self.agents), range(IPUS_PER_MACHINE))]
        return every_ipu[self.first : self.first + self.ipus]


@dataclass(frozen=True, slots=True)
class Test:
    __test__ = False

    allocation: str
    due: float | None
    passes: bool


@dataclass(slots=True)
class SiteState:
    """Everything of one region, by name; partitions by allocation and name.

    `links`: those that are not up, by the machine where each begins.
    """

    machines: dict[str, Machine] = field(default_factory=dict)
    hosts: dict[str, Host] = field(default_factory=dict)
    networks: dict[str, Network] = field(default_factory=dict)
    allocations: dict[str, Allocation] = field(default_factory=dict)
    partitions: dict[tuple[str, str], Partition] = field(default_factory=dict)
    tests: dict[str, Test] = field(default_factory=dict)
    users: dict[str, VipuUser] = field(default_factory=dict)
    links: dict[str, LinkState] = field(default_factory=dict)

    def answers(self, machine: str) -> bool:
        """Whether the machine is on and works."""
        return self.machines[machine].power == "On" and not self.machines[machine].broken

    def chain(self) -> Iterator[tuple[str, str]]:
        """The ends of every link of the pod."""
        return pairwise(sorted(self.machines))

    def copy(self) -> SiteState:
        return SiteState(
            dict(self.machines),
            dict(self.hosts),
            dict(self.networks),
            dict(self.allocations),
            dict(self.partitions),
            dict(self.tests),
            dict(self.users),
            dict(self.links),
        )


class Course:
    """The time at a site. `palette`: the seconds that anything may take."""

    def __init__(self, palette: Sequence[float], draw: random.Random, faults: Faults) -> None:
        self.now = 0.0
        self._palette = palette
        self._draw = draw
        self._faults = faults

    def later(self, since: float | None = None) -> float:
        """When something ends that began at `since`; None: that begins now."""
        return (self.now if since is None else since) + self._draw.choice(self._palette)

    def fails(self) -> bool:
        """Whether the hardware that something needs fails by then."""
        return self._faults.hardware()
