"""Partitions, and what surrounds them: topology, the V-IPU controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from ipucloud.client.models.base import Answer
from ipucloud.client.models.operations import Operation


class PartitionState(StrEnum):
    """States this version knows; a newer server may have more, which then are plain text."""

    CREATING = "creating"
    ACTIVE = "active"
    RESETTING = "resetting"
    ERROR = "error"
    UNKNOWN = "unknown"
    MISSING = "missing"
    REMOVING = "removing"
    REMOVED = "removed"


class PartitionIpu(Answer):
    """An IPU of a partition; `ipu` counts within the machine, `number` within the partition."""

    machine: str | None = None
    ipu: int
    domain: int
    segment: int
    number: int


class PartitionDetails(Answer):
    """A partition as its controller shows it. `origin`: cluster, api or customer.

    `partition_id` is its id at the controller, for IPUOF_VIPU_API_PARTITION_ID.
    """

    id: str
    name: str
    partition_id: str
    origin: str
    state: Annotated[PartitionState | str, Field(union_mode="left_to_right")]
    state_reason: str | None = None
    state_entered_at: datetime | None = None
    size: int | None = None
    gcds: int | None = None
    replicas: int | None = None
    segments: int | None = None
    reconfigurable: bool | None = None
    sync_type: str | None = None
    routing: str | None = None
    gateway_routing: str | None = None
    auto_reset: bool | None = None
    relocatable: bool | None = None
    observed_at: datetime | None = None
    ipuof_config_at: datetime | None = None
    created_at: datetime
    removed_at: datetime | None = None
    operation: str | None = None
    version: int = 0
    ipus: Sequence[PartitionIpu] = ()


class IpuofConfig(Answer):
    """An IPUoF configuration file of one GCD."""

    attributes: Mapping[str, str] = Field(default_factory=dict)
    devices: Sequence[Mapping[str, object]] = ()


class Rack(Answer):
    """An IPU-Link domain."""

    name: str
    domain: int
    topology: str
    machines: Sequence[str] = ()


class Ipu(Answer):
    ipu: int
    partition: str | None = None


class TopologyMachine(Answer):
    name: str
    rack: str
    slot: int
    health: str
    ipus: Sequence[Ipu] = ()


class Link(Answer):
    kind: str
    ends: Sequence[str]
    state: str
    observed_at: datetime | None = None


class Topology(Answer):
    """What a picture of the cluster draws."""

    racks: Sequence[Rack] = ()
    machines: Sequence[TopologyMachine] = ()
    links: Sequence[Link] = ()
    partitions: Sequence[Mapping[str, object]] = ()
    free_ipus: int = 0
    largest_partition: int = 0
    observed_at: datetime | None = None


class AccessKey(Answer):
    """A key of a cluster's V-IPU user, without its secret."""

    id: str
    created_at: datetime


class NewVipuKey(Answer):
    """A key just made: valid once `operation` has succeeded. `access_key` is null in a replay."""

    operation: Operation
    user: str
    access_key_id: str
    access_key: str | None = Field(default=None, repr=False)
    environment: Mapping[str, str] = Field(default_factory=dict)


class Vipu(Answer):
    """How the cluster's V-IPU controller is reached from its Poplar servers."""

    host: str
    port: int
    user: str | None = None
    access_key: AccessKey | None = None
    partition: str | None = None
    environment: Mapping[str, str] = Field(default_factory=dict)
