"""Calls for room: what fits into a region, and which moves would make more."""

from __future__ import annotations

from ipucloud.client.call import Call, segment
from ipucloud.client.models import Defragmentation, Page, Pod, RegionCapacity
from ipucloud.client.operator import call as request


def get(region: str) -> Call[RegionCapacity]:
    """Machines by state, what fits, free blocks, fragmentation and expiries of a region."""
    return request.get(f"regions/{segment(region)}/capacity", RegionCapacity)


def defragmentation(region: str, *, flavor: str) -> Call[Defragmentation]:
    """The cheapest moves of clusters after which one more of a flavor fits; nothing is changed."""
    return request.get(f"regions/{segment(region)}/defragmentation", Defragmentation, flavor=flavor)


def pods(
    *, region: str | None = None, rack: str | None = None, machine_type: str | None = None, limit: int | None = None
) -> Call[Page[Pod]]:
    """Pods with their masks of slots, largest free block and health, by name."""
    return request.get("pods", Page[Pod], region=region, rack=rack, machine_type=machine_type, limit=limit)
