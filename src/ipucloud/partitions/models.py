"""The bodies of the API that concern partitions: what is sent, and what is answered."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.clusters.models import Answer, Body, ClusterName, OperationOut
from ipucloud.kernel.vipu import GatewayRouting, PartitionShape, Routing, SyncType
from ipucloud.partitions.states import Origin, PartitionState

LARGEST = 65_536

Count = Annotated[int, Field(ge=1, le=LARGEST)]


class PartitionCreate(Body):
    """A partition to make. What is left out, the controller decides by its own rules."""

    name: ClusterName = Field(description="unique among the cluster's partitions", examples=["training"])
    size: Count = Field(description="IPUs: 1, 2, 4, 8, …", examples=[4])
    gcds: Count = Field(1, description="graph compile domains: processes that share the partition")
    replicas: Count | None = Field(None, description="as many as there are GCDs when left out")
    segments: Count | None = Field(None, description="IPU-Link domains; as few as possible when left out")
    reconfigurable: bool = Field(False, description="programs choose how many of the IPUs they attach to")
    sync_type: Annotated[SyncType, Field(strict=False)] | None = None
    routing: Annotated[Routing, Field(strict=False)] | None = Field(None, description="inside an IPU-Link domain")
    gateway_routing: Annotated[GatewayRouting, Field(strict=False)] | None = Field(
        None, description="between IPU-Link domains"
    )
    auto_reset: bool = Field(True, description="let the controller reset it after a fault")
    relocatable: bool = Field(False, description="it may move to other IPUs when it is reset")

    def shape(self) -> PartitionShape:
        return PartitionShape(**self.model_dump(exclude={"name"}))


class PartitionReset(Body):
    """How to reset."""

    relocatable: bool = Field(False, description="it may move to other IPUs; true goes before what it was made with")


class PartitionIpuOut(Answer):
    """An IPU of a partition. `ipu` counts within the machine, `number` within the partition."""

    machine: str | None
    ipu: int
    domain: int = Field(description="IPU-Link domain of the region's V-IPU cluster")
    segment: int = Field(description="IPU-Link domain of the partition")
    number: int


class PartitionItemOut(Answer):
    """A partition in a list. What is null is not known before the controller shows it."""

    id: UUID
    name: str
    partition_id: str = Field(description="its id at the controller: for IPUOF_VIPU_API_PARTITION_ID")
    origin: Origin = Field(
        description="cluster: made with the cluster; api: asked for here; customer: made at the controller directly"
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
    observed_at: datetime | None = Field(description="when the controller last showed it like this")
    ipuof_config_at: datetime | None = Field(description="when its IPUoF configuration was read; null: there is none")
    created_at: datetime
    removed_at: datetime | None
    operation: UUID | None = Field(description="the operation that works on it")
    version: int


class PartitionDetailOut(PartitionItemOut):
    """A partition with its IPUs."""

    ipus: list[PartitionIpuOut]


class IpuofDeviceOut(Answer):
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
    """An IPUoF configuration file: put it into `~/.ipuof.conf.d/`, or name it in `IPUOF_CONFIG_PATH`."""

    attributes: dict[str, str]
    devices: list[IpuofDeviceOut]


class RackOut(Answer):
    """An IPU-Link domain: machines in one rack, in the order of their IPU-Link chain."""

    name: str
    domain: int
    topology: str
    machines: list[str]


class IpuOut(Answer):
    """An IPU of a machine, and the partition that has it."""

    ipu: int
    partition: str | None = Field(description="id at the controller")


class TopologyMachineOut(Answer):
    name: str
    rack: str
    slot: int
    health: str
    ipus: list[IpuOut]


class LinkOut(Answer):
    """A link between two machines, or between those of neighbouring racks. It is down when one of its ends is."""

    kind: Literal["ipu-link", "gw-link"]
    ends: list[str] = Field(description="two machines")
    state: Literal["up", "degraded", "down"]
    observed_at: datetime | None = Field(
        description="when its controller showed it like this; null: it does not tell, and the machines' health does"
    )


class TopologyPartitionOut(Answer):
    name: str
    partition_id: str
    origin: Origin
    state: PartitionState
    size: int | None
    ipus: list[PartitionIpuOut]


class TopologyOut(Answer):
    """What a picture of the cluster draws. `observed_at`: the oldest of the controller's answers that are shown."""

    racks: list[RackOut]
    machines: list[TopologyMachineOut]
    links: list[LinkOut]
    partitions: list[TopologyPartitionOut]
    free_ipus: int
    largest_partition: int = Field(description="IPUs of the largest partition of one domain that fits now")
    observed_at: datetime | None


class AccessKeyOut(Answer):
    """A key of the cluster's V-IPU user, without its secret."""

    id: str
    created_at: datetime


class KeyRotate(Body):
    """How to replace the access key."""

    end_server_key: bool = Field(
        False,
        description="also end the key in the environment of the Poplar servers: `vipu` there asks for the new one then",
    )


class NewKeyOut(Answer):
    """A key just made. The controller takes it, and the one before no more, once `operation` has succeeded."""

    operation: OperationOut
    user: str
    access_key_id: str
    access_key: str | None = Field(description="the secret, shown this once; null in a replay of the answer")
    environment: dict[str, str] = Field(description="what to set for `ipucloud vipu` and the vendor's clients")


class VipuOut(Answer):
    """How the cluster's own V-IPU controller is reached from its Poplar servers."""

    host: str
    port: int
    user: str | None = Field(description="null: the controller takes no users")
    access_key: AccessKeyOut | None = Field(description="the customer's own key; null: there was never one")
    partition: str | None = Field(description="the partition that `environment` names")
    environment: dict[str, str] = Field(examples=[{"IPUOF_VIPU_API_HOST": "10.1.5.2"}])


def shape_of(requested: dict[str, Any]) -> PartitionShape:
    """A stored `requested`, as it was asked for."""
    return PartitionCreate(name="stored", **requested).shape()
