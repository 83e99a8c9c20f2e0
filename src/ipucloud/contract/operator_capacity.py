"""What operators see of a region's room."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.catalogue import CapacityOut
from ipucloud.contract.fields import Answer, Shape, figure
from ipucloud.contract.lists import Page, Paged
from ipucloud.kernel.money import Money


class PodOut(Answer):
    """An IPU-Link domain of up to 16 machines. In a mask, bit i is the machine in slot i of the pod's chain."""

    name: str = Field(description="Name of the pod.", examples=["lux2-p001"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    rack: str = Field(description="GW-Link group.", examples=["lux2-gw1"])
    position: int = Field(description="Position in the GW-Link group, counted from 0.", examples=[0])
    machine_type: str = Field(description="Type of the machines.", examples=["m2000"])
    topology: str = Field(description="How the IPU-Links join the machines.", examples=["torus"])
    machines: int = figure("recorded", "as_of", "Machines of the pod.", examples=[16])
    masks: dict[str, int] = figure(
        "computed",
        "as_of",
        "Masks of slots by state: `free`, `allocated`, `cleaning`, `validating`, `unhealthy`, `maintenance`, `silent`.",
        examples=[{"free": 65280, "allocated": 255, "cleaning": 0, "unhealthy": 0, "maintenance": 0}],
    )
    largest_block: int = figure("computed", "as_of", "Machines of the largest free aligned block.", examples=[8])
    health: dict[str, int] = figure(
        "computed",
        "as_of",
        "Machines by health: `ok`, `unknown`, `degraded`, `failed`, `silent`.",
        examples=[{"ok": 16}],
    )
    as_of: datetime = Field(description="Time of the figures, on the database's clock.")


class PodPage(Page[PodOut]):
    pass


class PodList(Paged):
    """Pods that match every filter, by name."""

    region: str | None = Field(None, description="Only pods of this region.", examples=["luxembourg-2"])
    rack: str | None = Field(None, description="Only pods of this GW-Link group.", examples=["lux2-gw1"])
    machine_type: str | None = Field(None, description="Only pods of this type of machine.", examples=["m2000"])


class PlaceOut(Answer):
    """Slots of a pod."""

    pod: str = Field(description="Name of the pod.", examples=["lux2-p001"])
    slots: list[int] = Field(description="Positions in the pod's IPU-Link chain.", examples=[[0, 1, 2, 3]])


class ClusterMoveOut(Answer):
    """A cluster that would be moved by a repair with other hardware."""

    project: str = Field(description="Slug of the project.")
    cluster: UUID = Field(description="Id of the cluster.")
    name: str = Field(description="Name of the cluster.", examples=["bert"])
    machines: int = figure("recorded", "as_of", "Its machines.", examples=[4])
    since: list[PlaceOut] = Field(description="Where it is.")
    to: list[PlaceOut] = Field(description="Where it would go.")
    minutes: float = figure("computed", "as_of", "How long it would be interrupted, usually.", examples=[10.3])
    not_billed: Money | None = Field(
        description="Price of these minutes, which are not billed; null when its article has no price now."
    )


class DefragmentationQuery(Shape):
    """What should fit."""

    flavor: str = Field(description="Name of a flavor that the region sells.", examples=["m2000-pod16"])


class DefragmentationOut(Answer):
    """The cheapest moves, in machines, after which one more cluster of a flavor fits. Nothing is changed by it."""

    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    flavor: str = Field(description="Name of the flavor.", examples=["m2000-pod16"])
    machines: int = figure("recorded", "as_of", "Machines of such a cluster.", examples=[4])
    as_of: datetime = Field(description="Time of the figures, on the database's clock.")
    result: Literal["fits", "possible", "impossible", "too_long"] = Field(
        description="`fits` without a move; `possible` by `moves`; `impossible` whatever is moved; `too_long`: the"
        " search was given up, because too much would have to be moved."
    )
    target: list[PlaceOut] = Field(description="The block that would be free; empty unless there is one.")
    moves: list[ClusterMoveOut] = Field(description="The moves, in an order in which each place is free.")


class ExpiriesOut(Answer):
    """Clusters that will be deleted automatically, and the machines that this returns."""

    within_seconds: int = Field(description="Seconds from now.", examples=[3600])
    clusters: int = figure("recorded", "as_of", "Clusters whose `expires_at` is within that time.", examples=[2])
    machines: int = figure("recorded", "as_of", "Machines that they hold.", examples=[8])


class TypeCapacityOut(Answer):
    """The machines of a type in a region."""

    machine_type: str = Field(description="Type of the machines.", examples=["m2000"])
    states: dict[str, int] = figure(
        "computed",
        "as_of",
        "Machines by state: `free`, `allocated`, `cleaning`, `validating`, `unhealthy`, `maintenance`, `silent` (their"
        " V-IPU controller does not answer or is not supported).",
        examples=[{"free": 12, "allocated": 16, "cleaning": 2, "validating": 0, "unhealthy": 1, "maintenance": 1}],
    )
    free_hosts: int = figure("computed", "as_of", "Hosts that can become a Poplar server.", examples=[20])
    blocks: dict[int, int] = figure(
        "computed",
        "as_of",
        "How many aligned blocks are free side by side, by their size in machines.",
        examples=[{"1": 12, "2": 5, "4": 2, "8": 1}],
    )
    largest_block: int = figure(
        "computed",
        "as_of",
        "Machines of the largest free block: the largest cluster that fits. 0: none.",
        examples=[8],
    )
    fragmentation: float | None = figure(
        "computed",
        "as_of",
        "Of the whole IPU-Link domains that the free machines would make if they were packed, the share"
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
    simulated: bool = Field(
        description="Whether the region's site said, when it was last asked, that it is simulated.", examples=[False]
    )
    types: list[TypeCapacityOut] = Field(description="Capacity by machine type.")
