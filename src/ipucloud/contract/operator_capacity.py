"""What operators see of a region's room."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from ipucloud.contract.catalogue import CapacityOut
from ipucloud.contract.fields import Answer


class ExpiriesOut(Answer):
    """Clusters that will be deleted automatically, and the machines that this returns."""

    within_seconds: int = Field(description="Seconds from now.", examples=[3600])
    clusters: int = Field(description="Clusters whose `expires_at` is within that time.", examples=[2])
    machines: int = Field(description="Machines that they hold.", examples=[8])


class TypeCapacityOut(Answer):
    """The machines of a type in a region."""

    machine_type: str = Field(description="Type of the machines.", examples=["m2000"])
    states: dict[str, int] = Field(
        description="Machines by state: `free`, `allocated`, `cleaning`, `unhealthy`, `maintenance`.",
        examples=[{"free": 12, "allocated": 16, "cleaning": 2, "unhealthy": 1, "maintenance": 1}],
    )
    free_hosts: int = Field(description="Hosts that can become a Poplar server.", examples=[20])
    blocks: dict[int, int] = Field(
        description="How many aligned blocks are free side by side, by their size in machines.",
        examples=[{"1": 12, "2": 5, "4": 2, "8": 1}],
    )
    largest_block: int = Field(
        description="Machines of the largest free block: the largest cluster that fits. 0: none.", examples=[8]
    )
    fragmentation: float | None = Field(
        description="Of the whole IPU-Link domains that the free machines would make if they were packed, the share"
        " that does not exist: 0 when packing would gain nothing, 1 when no domain is free as a whole. Null when"
        " fewer machines are free than a domain has.",
        examples=[0.25],
    )
    flavors: list[CapacityOut] = Field(description="How many clusters of each flavor fit now; if none, why not.")
    expiries: list[ExpiriesOut] = Field(description="Machines that come back by themselves.")


class RegionCapacityOut(Answer):
    """The room in a region, computed from the allocations and health reports in the database. Nothing is reserved."""

    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    as_of: datetime = Field(description="Time of the figures, on the database's clock.")
    types: list[TypeCapacityOut] = Field(description="Capacity by machine type.")
