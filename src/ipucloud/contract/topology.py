"""A cluster's topology, and access to its V-IPU controller."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from ipucloud.contract.cluster_hardware import FaultOut, Health
from ipucloud.contract.fields import Answer, Body, Shape
from ipucloud.contract.operations import OperationOut
from ipucloud.contract.partitions import ControllerStatusOut, Origin, PartitionIpuOut, PartitionState


class RackOut(Answer):
    """An IPU-Link domain: machines in one rack, in the order of their IPU-Link chain."""

    name: str
    domain: int
    topology: str
    machines: list[str]


class IpuOut(Answer):
    """An IPU of a machine, and the partition that it is in."""

    ipu: int
    partition: str | None = Field(description="Id, at the controller, of its partition.")


class TopologyMachineOut(Answer):
    """A machine of the cluster, and its place in its rack."""

    name: str
    rack: str
    slot: int
    health: Health
    observed_at: datetime | None
    faults: list[FaultOut]
    ipus: list[IpuOut]


class LinkOut(Answer):
    """A link between two machines, in one rack or in neighbouring racks. It is down if either machine has failed.

    It is `unknown` until the controller has reported it, which it does while both machines are on.
    """

    kind: Literal["ipu-link", "gw-link"]
    ends: list[str] = Field(description="Names of the two machines.")
    state: Literal["up", "degraded", "down", "unknown"]
    observed_at: datetime | None = Field(
        description="Time of its controller's report; null: there was none, and a state other than `unknown` is that"
        " of its machines."
    )


class TopologyPartitionOut(Answer):
    """A partition of the cluster, and the IPUs that it consists of."""

    name: str
    partition_id: str
    origin: Origin
    state: PartitionState
    state_reason: str | None
    controller: ControllerStatusOut | None = Field(
        description="What the controller reports while the partition is not active; null while it is."
    )
    size: int | None
    ipus: list[PartitionIpuOut]


class PartitionSizeOut(Answer):
    """A size that partitions of the cluster can have, and whether there is room for one now."""

    size: int
    fits: bool = Field(description="Whether one would fit now, over as few IPU-Link domains as possible.")
    reason: Literal["too_few_free", "no_aligned_block"] | None = Field(
        description="Why none fits: `too_few_free`: fewer IPUs are free; `no_aligned_block`: enough are free, but a"
        " partition of 2^k IPUs begins at a multiple of 2^k, and no such block is free as a whole. Null if one fits."
    )


class TopologyOut(Answer):
    """The cluster's racks, machines, IPUs, links and partitions."""

    racks: list[RackOut]
    machines: list[TopologyMachineOut]
    links: list[LinkOut]
    partitions: list[TopologyPartitionOut]
    free_ipus: int
    largest_partition: int = Field(description="IPUs of the largest partition within one domain that fits now.")
    partition_sizes: list[PartitionSizeOut] = Field(description="Sizes of partitions, smallest first.")
    observed_at: datetime | None


class AccessKeyOut(Answer):
    """A key of the cluster's V-IPU user, without its secret."""

    id: str
    created_at: datetime


class KeyRotate(Body):
    """How to replace the access key."""

    end_server_key: bool = Field(
        False,
        description="Whether to revoke the key of the Poplar servers too; `vipu` there then needs the new one.",
    )


class NewKeyOut(Answer):
    """A new key. Once `operation` has succeeded, the controller accepts it instead of the previous one."""

    operation: OperationOut
    user: str
    access_key_id: str
    access_key: str | None = Field(description="The secret, shown only once; null in a replayed response.")
    environment: dict[str, str] = Field(description="Environment for `ipucloud vipu` and the vendor's clients.")


class VipuOut(Answer):
    """How to reach the cluster's V-IPU controller from its Poplar servers."""

    host: str
    port: int
    user: str | None = Field(description="V-IPU user; null if the controller has no user accounts.")
    access_key: AccessKeyOut | None = Field(description="Key created by `vipu:rotate-key`; null if there is none.")
    partition: str | None = Field(description="Partition that `environment` names.")
    authority: str | None = Field(
        description="Certificates, PEM, that the controller is verified with; null if it speaks no TLS.",
        examples=["-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n"],
    )
    environment: dict[str, str] = Field(examples=[{"IPUOF_VIPU_API_HOST": "10.1.5.2"}])


class ForPartition(Shape):
    partition: str | None = Field(None, description="Name or id of the partition that `environment` names.")
