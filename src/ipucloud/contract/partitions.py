"""Partitions of a cluster's IPUs."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, ClusterName, Shape
from ipucloud.contract.lists import Listed, Page
from ipucloud.kernel.vipu import GatewayRouting, PartitionOperationState, PartitionShape, Routing, SyncType


class Origin(StrEnum):
    """Who created a partition: the cluster's creation, a request to this API, or a customer at the controller."""

    CLUSTER = "cluster"
    API = "api"
    CUSTOMER = "customer"


class PartitionState(StrEnum):
    """A partition's state. `missing`: it was removed at the controller. `removed`: kept as history."""

    CREATING = "creating"
    ACTIVE = "active"
    RESETTING = "resetting"
    ERROR = "error"
    UNKNOWN = "unknown"
    MISSING = "missing"
    REMOVING = "removing"
    REMOVED = "removed"


LARGEST = 65_536
Count = Annotated[int, Field(ge=1, le=LARGEST)]


class PartitionCreate(Body):
    """A partition to create. The controller chooses what is omitted."""

    name: ClusterName = Field(description="Name, unique among the cluster's partitions.", examples=["training"])
    size: Count = Field(description="Number of IPUs, a power of two.", examples=[4])
    gcds: Count = Field(1, description="Number of graph compile domains: processes that share the partition.")
    replicas: Count | None = Field(None, description="Number of model replicas. Default: as many as GCDs.")
    segments: Count | None = Field(None, description="Number of IPU-Link domains. Default: as few as possible.")
    reconfigurable: bool = Field(False, description="Whether programs choose how many of the IPUs they attach to.")
    sync_type: Annotated[SyncType, Field(strict=False)] | None = None
    routing: Annotated[Routing, Field(strict=False)] | None = Field(
        None, description="How IPU-Links are routed within a domain."
    )
    gateway_routing: Annotated[GatewayRouting, Field(strict=False)] | None = Field(
        None, description="How GW-Links are routed between domains."
    )
    auto_reset: bool = Field(True, description="Whether the controller resets it after a fault.")
    relocatable: bool = Field(False, description="Whether it may move to other IPUs when it is reset.")

    def shape(self) -> PartitionShape:
        return PartitionShape(**self.model_dump(exclude={"name"}))


def shape_of(requested: dict[str, Any]) -> PartitionShape:
    """A stored `requested`, as it was asked for."""
    return PartitionCreate(name="stored", **requested).shape()


class PartitionReset(Body):
    """How to reset."""

    relocatable: bool = Field(
        False, description="Whether it may move to other IPUs; true overrides the partition's setting."
    )


class PartitionIpuOut(Answer):
    """An IPU of a partition."""

    machine: str | None
    ipu: int
    domain: int = Field(description="IPU-Link domain of the region's V-IPU cluster.")
    segment: int = Field(description="IPU-Link domain of the partition.")
    number: int


class ControllerStatusOut(Answer):
    """What the controller reports of a partition that is not active."""

    operation_state: PartitionOperationState = Field(description="What the controller does with it.")
    errors: list[str] = Field(
        description="What is wrong, in the controller's own words.", examples=[["agent lux2-p001-m01 is unreachable"]]
    )
    auto_resets: int = Field(description="How often the controller has reset the partition by itself.", examples=[1])
    max_auto_resets: int = Field(description="How often it does so before it gives up.", examples=[3])
    last_auto_reset_at: datetime | None = Field(description="When it did so last.")
    observed_at: datetime = Field(description="When the controller reported this.")


class PartitionItemOut(Answer):
    """A partition in a list. Fields are null until the controller reports them."""

    id: UUID
    name: str
    partition_id: str = Field(description="Id at the controller, for `IPUOF_VIPU_API_PARTITION_ID`.")
    origin: Origin = Field(
        description="Who created it: the cluster's create, a request to this API, or a customer at the controller."
    )
    state: PartitionState
    state_reason: str | None
    state_entered_at: datetime
    size: int | None
    gcds: int | None
    replicas: int | None
    segments: int | None
    reconfigurable: bool | None
    sync_type: SyncType | None
    routing: Routing | None
    gateway_routing: GatewayRouting | None
    auto_reset: bool | None
    relocatable: bool | None
    controller: ControllerStatusOut | None = Field(
        description="What the controller reports while the partition is not active; null while it is."
    )
    observed_at: datetime | None = Field(description="Time of the controller's last report of the partition.")
    ipuof_config_at: datetime | None = Field(
        description="When its IPUoF configuration was read; null if it is not available."
    )
    created_at: datetime
    removed_at: datetime | None
    operation: UUID | None = Field(description="Id of the open operation on the partition; null when none is open.")
    version: int


class PartitionDetailOut(PartitionItemOut):
    """A partition with its IPUs."""

    ipus: list[PartitionIpuOut]


class PartitionPage(Page[PartitionItemOut]):
    pass


class PartitionList(Listed):
    """Partitions that match every filter; removed ones only if `state` includes `removed`."""

    state: list[PartitionState] = Field(default_factory=list, description="Only those in one of these states.")
    origin: Origin | None = Field(None, description="Only partitions of this origin.")


class OneGcd(Shape):
    gcd: int = Field(0, ge=0, le=65_535, description="Number of the GCD, counted from 0.")


class IpuofDeviceOut(Answer):
    """An IPU of the partition, and where its IPU over Fabric server listens."""

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


class IpuofConfigOut(Answer):
    """An IPUoF configuration file: save it in `~/.ipuof.conf.d/`, or set `IPUOF_CONFIG_PATH` to its path."""

    attributes: dict[str, str]
    devices: list[IpuofDeviceOut]
