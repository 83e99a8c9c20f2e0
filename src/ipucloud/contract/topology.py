"""What a cluster is made of, and how its V-IPU controller is reached."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from ipucloud.contract.fields import Answer, Body
from ipucloud.contract.operations import OperationOut
from ipucloud.contract.partitions import Origin, PartitionIpuOut, PartitionState


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


class ForPartition(BaseModel):
    partition: str | None = Field(None, description="name or id of the partition that the environment is to name")
