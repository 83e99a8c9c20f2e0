"""The bodies of the API that concern clusters: what is sent, and what is answered.

Hot reads answer with JSON that PostgreSQL wrote; the answer models here document it, and a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeVar
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from ipucloud.clusters.states import ClusterState
from ipucloud.kernel.money import Money

NAME_PATTERN = r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
MAX_TAGS = 50
MAX_KEYS = 50
USER_DATA_LIMIT = 65_536

_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)

Given = TypeVar("Given")


def _written_out(value: object) -> object:
    if isinstance(value, str) and not _RFC3339.fullmatch(value):
        raise ValueError("write the instant like 2026-01-31T23:59:30Z")
    if not isinstance(value, str | datetime | None):
        raise ValueError("an instant is text")
    return value


def _utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the instant is beyond the years 1 to 9999") from error


def _not_null(value: Given | None) -> Given:
    if value is None:
        raise ValueError("leave the field out instead of sending null")
    return value


ClusterName = Annotated[str, Field(pattern=NAME_PATTERN, examples=["bert-large"])]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,126}[a-z0-9])?$")]
KeyName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]
TagKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._:/-]{0,61}[A-Za-z0-9])?$")]
TagValue = Annotated[str, Field(max_length=255, pattern=r"^[^\x00-\x1f\x7f]*$")]
Tags = Annotated[
    dict[TagKey, TagValue],
    Field(max_length=MAX_TAGS, examples=[{"team": "nlp"}], json_schema_extra={"additionalProperties": False}),
]
Instant = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_written_out), AfterValidator(_utc)]


class Body(BaseModel):
    """A request body: unknown fields are refused, and a value of another type is not converted."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PartitionOptions(Body):
    """The default partition. A reconfigurable one lets programs choose how many of its IPUs they attach to."""

    reconfigurable: bool = True


class ClusterCreate(Body):
    """A cluster to create, or to estimate."""

    name: ClusterName = Field(description="unique among the project's living clusters")
    region: Slug = Field(examples=["luxembourg-2"])
    flavor: Slug = Field(examples=["m2000-pod16"])
    image: Slug = Field(examples=["ubuntu-20.04-x64-poplar-1.18.0-3.0.0"])
    ssh_keys: list[KeyName] = Field(
        default_factory=list, max_length=MAX_KEYS, description="names of the project's keys that may log in"
    )
    user_data: str | None = Field(
        None, max_length=USER_DATA_LIMIT, pattern=r"^[^\x00]*$", description="cloud-init data of the Poplar servers"
    )
    tags: Tags = Field(default_factory=dict)
    partition: PartitionOptions = PartitionOptions()
    delete_protection: bool = Field(False, description="refuse deletion until this is taken away")
    expires_at: Instant | None = Field(None, description="when the cluster is to be deleted by itself")


class ClusterPatch(Body):
    """What can be changed without work on the hardware. Fields left out stay as they are; `tags` replaces all tags."""

    name: Annotated[ClusterName | SkipJsonSchema[None], AfterValidator(_not_null)] = None
    tags: Annotated[Tags | SkipJsonSchema[None], AfterValidator(_not_null)] = None
    delete_protection: Annotated[bool | SkipJsonSchema[None], AfterValidator(_not_null)] = None
    expires_at: Instant | None = Field(None, description="null: the cluster does not expire")


class Answer(BaseModel):
    """A JSON object of the API, also read from values with attributes of the same names."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class SshOut(Answer):
    """How to log in. `host_key` is an OpenSSH public key line: what the server must show."""

    host: str
    port: int
    user: str
    command: str = Field(examples=["ssh -p 2201 ubuntu@203.0.113.7"])
    host_key: str
    host_key_fingerprint: str = Field(examples=["SHA256:w2Zc…"])


class PoplarServerOut(Answer):
    """A server that drives the IPUs; `ssh` is null until it answers. `off`: its cluster is suspended."""

    id: UUID
    name: str
    state: Literal["pending", "running", "off", "deleted"]
    addresses: list[str]
    ssh: SshOut | None


class MachineOut(Answer):
    """An IPU machine that the cluster holds. `slot` is its place in its pod's IPU-Link chain, from 0."""

    name: str
    ordinal: int = Field(description="place within the cluster, from 0")
    pod: str
    slot: int
    machine_type: str
    ipus: int = Field(description="of its IPUs, those that the cluster has")
    health: Literal["ok", "degraded", "failed"]
    rnic: str = Field(description="address of its RDMA network card")


class PartitionOut(Answer):
    """A partition of the cluster's IPUs on the V-IPU controller."""

    name: str
    ipus: int
    reconfigurable: bool


class BillingOut(Answer):
    """What the cluster has cost so far; `cost` is null while a minute has no published price.

    `paused`: it is suspended, or about to be, or not back yet.
    """

    status: Literal["not_started", "running", "paused", "ended"]
    started_at: datetime | None
    minutes: int
    cost: Money | None


BLOCKED_BY = (
    "what the step under way waits for, since when, and how often that was checked, once it takes longer than usual or"
    " something went wrong"
)


class TargetOut(Answer):
    """What an operation works on; `cluster` is the cluster that it is, or belongs to, null for an export."""

    type: Literal["cluster", "partition", "export"]
    id: UUID
    cluster: UUID | None


class OperationSummaryOut(Answer):
    """An operation without its steps. `done` never turns back, and then nothing changes any more."""

    id: UUID
    kind: str = Field(examples=["cluster.create"])
    target: TargetOut
    state: str = Field(description="queued, running, cancelling, succeeded, failed or cancelled")
    done: bool
    stage: str | None = Field(examples=["POPLAR_SERVERS"])
    progress: int = Field(ge=0, le=100, description="percent")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    deadline_at: datetime = Field(description="when it is given up")
    expected_at: datetime | None = Field(description="when it should be done")
    blocked_by: str | None = Field(description=BLOCKED_BY)
    cancellable: bool
    request_id: str


class StepOut(Answer):
    """One action of an operation. `checks` counts how often it was found not done; `attempts` the failures of these."""

    name: str
    stage: str
    state: str = Field(
        description="pending, running, succeeded, failed, or skipped: it does not apply to machines of this type, as"
        " `detail` says, or the operation ended before it"
    )
    attempts: int
    checks: int
    detail: str | None
    started_at: datetime | None
    finished_at: datetime | None


class OperationOut(OperationSummaryOut):
    """The promise that a request was answered with, and how far it is."""

    error: dict[str, object] | None = Field(description="the problem it ended with")
    steps: list[StepOut]


class ClusterItemOut(Answer):
    """A cluster in a list: all of it but its machines."""

    id: UUID
    name: str
    project: str = Field(description="the project's slug")
    region: str
    flavor: str
    image: str
    state: ClusterState
    state_reason: str | None
    state_entered_at: datetime
    state_sla_seconds: int | None
    blocked_by: str | None = Field(description=BLOCKED_BY)
    stage: str | None = Field(description="stage of the open operation")
    progress: int = Field(ge=0, le=100, description="percent of the open operation; 100 when none is open")
    created_at: datetime
    ready_at: datetime | None
    deleted_at: datetime | None
    expires_at: datetime | None
    delete_protection: bool
    tags: dict[str, str]
    ssh_keys: list[str]
    poplar_servers: list[PoplarServerOut]
    partitions: list[PartitionOut]
    ipus: int
    price_per_minute: Money | None
    billing: BillingOut
    operation: OperationSummaryOut | None = Field(description="the open operation")
    version: int


class ClusterOut(ClusterItemOut):
    """A cluster. `state_reason`, `state_entered_at` and `state_sla_seconds` say why, since when, how long is normal."""

    machines: list[MachineOut]


class WhyNotOut(Answer):
    """Why there is no room now. The numbers are of the region as a whole, in machines unless they say otherwise."""

    reason: str = Field(description="capacity, health, maintenance, fragmentation or hosts; open to others")
    detail: str
    numbers: dict[str, int] = Field(
        description="`largest`: the largest cluster that fits; `missing`: machines that would have to become free",
        examples=[
            {"wanted": 4, "free": 6, "cleaning": 0, "unhealthy": 1, "maintenance": 0, "largest": 2, "missing": 0}
        ],
    )


class EstimateQuotaOut(Answer):
    """Whether the project's quota allows the cluster, in machines."""

    allowed: bool
    limit: int
    used: int
    needed: int


class EstimateCapacityOut(Answer):
    """Whether the region has room for the cluster at this moment."""

    available: bool
    why_not: WhyNotOut | None


class EstimateOut(Answer):
    """What a create would cost, and whether it could be done now. A month is 730 hours; nothing is reserved."""

    price_per_minute: Money
    price_per_hour: Money
    price_per_day: Money
    price_per_month: Money
    quota: EstimateQuotaOut
    capacity: EstimateCapacityOut
    expected_seconds: int = Field(description="usual time until the cluster can be used")


class UsageSliceOut(Answer):
    """Minutes of one size under one price, all started in [started_at, ended_at)."""

    started_at: datetime
    ended_at: datetime
    minutes: int
    machines: int
    sku: str
    unit_price: Money = Field(description="per machine-minute")
    cost: Money


class UsageOut(Answer):
    """What one cluster used in [since, until), exact to the last digit. `since` is null while nothing is billed."""

    cluster_id: UUID
    name: str
    region: str
    flavor: str
    running: bool
    since: datetime | None
    until: datetime
    minutes: int
    cost: Money
    slices: list[UsageSliceOut]


class ProjectUsageOut(Answer):
    """What a project's clusters used in [since, until)."""

    since: datetime
    until: datetime
    minutes: int
    cost: Money
    clusters: list[UsageOut]


class EventOut(Answer):
    """One fact about the subject; `id` is its place in the log, in the order in which facts became visible."""

    id: str
    type: str = Field(examples=["cluster.created"])
    subject_type: str
    subject_id: UUID
    operation_id: UUID | None
    request_id: str | None
    at: datetime
    data: Mapping[str, object]
