"""V-IPU partitions in the terms of our API. Pure.

The wire's own terms (`ST_GS2_DEFAULT`, `IRT_DNC`, …) stay at the edge, in `ipucloud.site.vipu`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PARTITION_ID = r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,36}"
"""Ids that we show and send: what a V-IPU controller accepts (rule 11 of its documentation)."""

DOMAIN_IPUS = 64
"""IPUs of one IPU-Link domain: 16 machines of 4."""

IPUS_PER_MACHINE = 4


class SyncType(StrEnum):
    """How the IPUs of a partition are synchronised."""

    C2_COMPATIBLE = "c2-compatible"
    POD_NATIVE = "pod-native"
    REPLICATED_PIPELINE = "pod-native-replicated-pipeline"


class Routing(StrEnum):
    """How IPU-Links are routed inside a domain."""

    DNC = "dnc"
    SWNC = "swnc"
    BTNC = "btnc"
    RINGSWNC = "ringswnc"


class GatewayRouting(StrEnum):
    """How GW-Links are routed between domains."""

    RING = "ring"
    SWRING = "swring"


class PartitionOperationState(StrEnum):
    """What a controller does with a partition. `unknown`: a value that this version does not know, or none."""

    IDLE = "idle"
    CREATING = "creating"
    RESETTING = "resetting"
    REMOVING = "removing"
    FAILED = "failed"
    UNKNOWN = "unknown"


SELF_RESET_SECONDS = 600.0
"""How long a partition in error is left to its controller, which resets it up to three times, a minute apart."""


@dataclass(frozen=True, slots=True)
class PartitionShape:
    """The requested shape of a partition. `size` is in IPUs; None leaves the choice to the controller.

    `gcds`: graph compile domains, the processes that share the partition. `segments`: IPU-Link domains it spans.
    """

    size: int
    gcds: int = 1
    replicas: int | None = None
    segments: int | None = None
    reconfigurable: bool = False
    sync_type: SyncType | None = None
    routing: Routing | None = None
    gateway_routing: GatewayRouting | None = None
    auto_reset: bool = True
    relocatable: bool = False


@dataclass(frozen=True, slots=True, order=True)
class IpuNumber:
    """An IPU as its controller numbers it: its IPU-Link domain, and its topology id in there."""

    domain: int
    topology_id: int


@dataclass(frozen=True, slots=True, order=True)
class IpuPlace:
    """Where an IPU is cabled: its IPU-Link domain, and its place along the chain there."""

    domain: int
    position: int


def chain_positions(slot: int) -> range:
    """The places along their domain's chain of the IPUs of the machine in a slot."""
    return range(IPUS_PER_MACHINE * slot, IPUS_PER_MACHINE * (slot + 1))
