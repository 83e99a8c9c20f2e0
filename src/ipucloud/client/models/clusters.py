"""Clusters and their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from ipucloud.client.models.base import Answer, Money
from ipucloud.client.models.catalogue import WhyNot
from ipucloud.client.models.operations import Operation


class ClusterState(StrEnum):
    """States this version knows; a newer server may have more, which then are plain text."""

    CREATING = "creating"
    ACTIVE = "active"
    DEGRADED = "degraded"
    RESIZING = "resizing"
    SUSPENDING = "suspending"
    SUSPENDED = "suspended"
    RESUMING = "resuming"
    REBOOTING = "rebooting"
    REBUILDING = "rebuilding"
    ERROR = "error"
    DELETING = "deleting"
    DELETED = "deleted"


class Ssh(Answer):
    """How to log in to a server. `host_key` is a line of OpenSSH's public key format: what the server must show."""

    host: str
    port: int
    user: str
    command: str | None = None
    host_key: str | None = None
    host_key_fingerprint: str | None = None


class PoplarServer(Answer):
    """A server that drives the IPUs; `ssh` is None until it answers. `off`: its cluster is suspended."""

    id: str
    name: str
    state: str
    addresses: Sequence[str] = ()
    ssh: Ssh | None = None


class Machine(Answer):
    """An IPU machine that the cluster holds; `slot` is its place in its pod's IPU-Link chain, from 0."""

    name: str
    ordinal: int
    pod: str
    slot: int
    machine_type: str
    ipus: int
    health: str


class Partition(Answer):
    """A partition of the cluster's IPUs on the V-IPU controller."""

    name: str
    ipus: int
    reconfigurable: bool


class Billing(Answer):
    """What the cluster has cost so far; `cost` is None while a minute has no published price."""

    status: str
    started_at: datetime | None = None
    minutes: int = 0
    cost: Money | None = None


class Cluster(Answer):
    """A cluster. `state_reason`, `state_entered_at` and `state_sla_seconds` say why, since when, how long is normal."""

    id: str
    name: str
    project: str = ""
    region: str
    flavor: str
    image: str
    state: Annotated[ClusterState | str, Field(union_mode="left_to_right")]
    state_reason: str | None = None
    state_entered_at: datetime | None = None
    state_sla_seconds: int | None = None
    blocked_by: str | None = None
    stage: str | None = None
    progress: int | None = None
    created_at: datetime
    ready_at: datetime | None = None
    deleted_at: datetime | None = None
    expires_at: datetime | None = None
    delete_protection: bool = False
    tags: Mapping[str, str] = Field(default_factory=dict)
    ssh_keys: Sequence[str] = ()
    machines: Sequence[Machine] = ()
    poplar_servers: Sequence[PoplarServer] = ()
    partitions: Sequence[Partition] = ()
    ipus: int
    price_per_minute: Money | None = None
    billing: Billing | None = None
    operation: Operation | None = None
    version: int


class EstimateQuota(Answer):
    """Whether the project's quota allows the cluster, in machines."""

    allowed: bool
    limit: int
    used: int
    needed: int


class EstimateCapacity(Answer):
    """Whether the region has room for the cluster at this moment."""

    available: bool
    why_not: WhyNot | None = None


class Estimate(Answer):
    """What a create would cost, and whether it could be done now; nothing is reserved. A month is 730 hours."""

    price_per_minute: Money
    price_per_hour: Money
    price_per_day: Money
    price_per_month: Money
    quota: EstimateQuota
    capacity: EstimateCapacity
    expected_seconds: int
