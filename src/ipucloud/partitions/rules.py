"""Faults of a requested partition: the controller's rules, checked before it is called.

The rules are the vendor's where they are documented (a size is a power of two, `reconfigurable` forces a sync type);
the limits of a domain, of GCDs and of replicas are derived from public code. Numbers refer to docs/vipu.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ipucloud.kernel.errors import FieldError
from ipucloud.kernel.vipu import DOMAIN_IPUS, GatewayRouting, PartitionShape, Routing, SyncType


@dataclass(frozen=True, slots=True)
class Hardware:
    """A cluster's hardware for partitions: its IPUs, and how domains and their gateways are wired."""

    ipus: int
    torus: bool
    looped: bool

    @property
    def domains(self) -> int:
        return -(-self.ipus // DOMAIN_IPUS)


def faults(shape: PartitionShape, hardware: Hardware) -> list[FieldError]:
    """Every reason why no controller could make this on such hardware; empty if there is none."""
    return [*_size(shape, hardware), *_graphs(shape), *_segments(shape, hardware), *_links(shape, hardware)]


def _size(shape: PartitionShape, hardware: Hardware) -> Iterator[FieldError]:
    if not _is_power_of_two(shape.size):
        yield FieldError("/size", "not_a_power_of_two", "A partition has 1, 2, 4, 8, … IPUs.")
    elif shape.size > hardware.ipus:
        yield FieldError("/size", "larger_than_cluster", f"The cluster has {hardware.ipus} IPUs.")


def _graphs(shape: PartitionShape) -> Iterator[FieldError]:
    replicas = shape.gcds if shape.replicas is None else shape.replicas
    if shape.size % shape.gcds:
        yield FieldError("/gcds", "does_not_divide", "Every GCD gets the same number of the partition's IPUs.")
    if replicas % shape.gcds:
        yield FieldError("/replicas", "not_a_multiple", "Every GCD gets the same number of replicas.")
    elif shape.size % replicas:
        yield FieldError("/replicas", "does_not_divide", "Every replica gets the same number of the partition's IPUs.")


def _segments(shape: PartitionShape, hardware: Hardware) -> Iterator[FieldError]:
    needed = max(1, shape.size // DOMAIN_IPUS)
    segments = needed if shape.segments is None else shape.segments
    if segments < needed:
        yield FieldError("/segments", "too_few", f"A domain has {DOMAIN_IPUS} IPUs: {needed} are needed.")
    elif segments > hardware.domains or not _is_power_of_two(segments) or segments > shape.size:
        yield FieldError("/segments", "not_possible", "The partition cannot be spread over so many IPU-Link domains.")
    if shape.reconfigurable and segments > 1:
        yield FieldError(
            "/reconfigurable", "one_domain_only", "A reconfigurable partition lies in one IPU-Link domain."
        )
    if shape.gcds < segments:
        yield FieldError("/gcds", "too_few", f"Over {segments} IPU-Link domains there are at least {segments} GCDs.")


def _links(shape: PartitionShape, hardware: Hardware) -> Iterator[FieldError]:
    if shape.reconfigurable and shape.sync_type not in {None, SyncType.C2_COMPATIBLE}:
        yield FieldError("/sync_type", "not_reconfigurable", "A reconfigurable partition is c2-compatible.")
    if shape.routing is Routing.RINGSWNC and not hardware.torus:
        yield FieldError("/routing", "needs_a_torus", "The cluster's domains are meshes.")
    if shape.gateway_routing is GatewayRouting.RING and not hardware.looped:
        yield FieldError("/gateway_routing", "needs_looped_gateways", "The cluster's gateways are switched.")
    if shape.gateway_routing is GatewayRouting.SWRING and hardware.looped:
        yield FieldError("/gateway_routing", "needs_switched_gateways", "The cluster's gateways are looped.")


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
