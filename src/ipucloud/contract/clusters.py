"""Clusters: the requests that create and change them, and how they are shown."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, TypeAlias, get_args
from uuid import UUID

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from ipucloud.contract.addresses import ClusterAddressOut
from ipucloud.contract.capacity import CapacityWaitOut, WaitingRequest
from ipucloud.contract.cluster_hardware import FaultOut, MachineOut, PoplarServerOut
from ipucloud.contract.estimates import BillingRule
from ipucloud.contract.fields import Answer, Body, ClusterName, Instant, KeyRef, Slug, Tags, not_null, secret
from ipucloud.contract.lists import NamedListed, Page
from ipucloud.contract.operations import BLOCKED_BY, OperationSummaryOut
from ipucloud.contract.poplar_servers import supported_user_data
from ipucloud.contract.repairs import RepairWindow, ScheduledRepairOut
from ipucloud.contract.schedules import ClusterSchedule, ClusterScheduleOut
from ipucloud.contract.sources import Sources
from ipucloud.contract.volumes import MAX_OF_NEW_CLUSTER, ClusterVolume
from ipucloud.kernel.money import Money


class ClusterState(StrEnum):
    """How far the control plane has brought the cluster."""

    CREATING = "creating"
    ACTIVE = "active"
    DEGRADED = "degraded"
    RESIZING = "resizing"
    SUSPENDING = "suspending"
    SUSPENDED = "suspended"
    RESUMING = "resuming"
    REBUILDING = "rebuilding"
    ERROR = "error"
    DELETING = "deleting"
    DELETED = "deleted"


MAX_KEYS = 50
MAX_POPLAR_SERVERS = 64
"""Of the largest pod: four for each IPU-Link domain."""
USER_DATA_LIMIT = 65_536
_AUTO_REPAIR = (
    "Whether faulty hardware is replaced without a request, and the cluster is moved before planned maintenance of its"
    " hardware."
)
_CHANGED_KEYS = (
    "Names or ids of the project's keys that may log in, in place of the present ones. A key of the cluster that the"
    " project has deleted stays if it is named."
)
_SOURCES = (
    "Networks (CIDR) from which SSH to its servers is let in, also through addresses; a single address is one, too."
    " Empty: from everywhere. Open connections stay open."
)
_SCHEDULE = (
    "When the cluster is in use; it is suspended and resumed by that, from the next moment on. null: by requests only."
)
_IDLE = "Minutes without a login and an attached IPU, as observed at the site, until it is suspended; null: never."
_PREEMPTIBLE = (
    "Whether it is billed at the price of preemptible clusters, and suspended, after a notice, when an ordinary cluster"
    " needs its machines."
)
_REPAIR_WINDOW = "When repairs may begin without a request; null: at any time."


KeyRefs = Annotated[list[KeyRef], Field(max_length=MAX_KEYS)]


UserData = Annotated[
    str,
    Field(max_length=USER_DATA_LIMIT, pattern=r"^[^\x00]*$", json_schema_extra=secret()),
    AfterValidator(supported_user_data),
]
IdleMinutes = Annotated[int, Field(ge=5, le=43_200)]


class PartitionOptions(Body):
    """The default partition. If reconfigurable, programs choose how many of its IPUs they attach to."""

    reconfigurable: bool = True


MAX_S3_CONNECTIONS = 8
S3Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=63)]], Field(max_length=MAX_S3_CONNECTIONS)]
_S3 = "Names of the project's S3 connections that its servers have; each must be `attachable`."


class ClusterCreate(Body):
    """A cluster to create or to estimate."""

    name: ClusterName = Field(description="Name, unique among the project's clusters that are not deleted.")
    region: Slug = Field(examples=["luxembourg-2"])
    flavor: Slug = Field(examples=["m2000-pod16"])
    image: Slug = Field(examples=["ubuntu-20.04-x64-poplar-1.18.0-3.0.0"])
    poplar_servers: int | None = Field(
        None,
        ge=1,
        le=MAX_POPLAR_SERVERS,
        description=(
            "Number of Poplar servers, from the flavor's `poplar_servers_min` to its `poplar_servers_max`; null: its"
            " `poplar_servers`."
        ),
        examples=[None],
    )
    ssh_keys: list[KeyRef] = Field(
        default_factory=list, max_length=MAX_KEYS, description="Names of the project's keys that may log in."
    )
    allowed_sources: Sources = Field(default_factory=list, description=_SOURCES)
    s3_connections: S3Names = Field(default_factory=list, description=_S3, examples=[["training-data"]])
    volumes: list[ClusterVolume] = Field(
        default_factory=list,
        max_length=MAX_OF_NEW_CLUSTER,
        description="Volumes that its Poplar servers have when it is `active`; each must be `available`.",
        examples=[[{"volume": "checkpoints"}]],
    )
    user_data: UserData | None = Field(
        None,
        description=(
            "User data for cloud-init, carried out once by each server: `#cloud-config` with `bootcmd`, `hostname`,"
            " `runcmd`, `ssh_authorized_keys` and `write_files`, or a script that begins with `#!`."
        ),
        examples=["#cloud-config\nruncmd:\n- git init /data/results\n"],
    )
    tags: Tags = Field(default_factory=dict)
    partition: PartitionOptions = PartitionOptions()
    delete_protection: bool = Field(False, description="Whether deletion is refused.")
    expires_at: Instant | None = Field(None, description="When the cluster is deleted automatically.")
    auto_repair: bool = Field(True, description=_AUTO_REPAIR)
    repair_window: RepairWindow | None = Field(None, description=_REPAIR_WINDOW)
    schedule: ClusterSchedule | None = Field(None, description=_SCHEDULE)
    idle_suspend_minutes: IdleMinutes | None = Field(None, description=_IDLE, examples=[60])
    wait_for_capacity: bool = Field(
        False, description="Whether the cluster waits for machines when none are free for it, instead of being refused."
    )
    preemptible: bool = Field(False, description=_PREEMPTIBLE + " It cannot be changed later.")
    reservation: Annotated[UUID | None, Field(strict=False)] = Field(
        None,
        description=(
            "Id of an active reservation of the same region and flavor that the cluster is created from; null: of none."
            " It takes no further quota, and is not billed beside the reservation."
        ),
        examples=[None],
    )
    wait_until: Instant | None = Field(
        None,
        description=(
            "Until when it waits, at most seven days from now; null: for a day. Needs `wait_for_capacity`. Without"
            " machines by then the create fails with `capacity_wait_expired`."
        ),
        examples=[None],
    )


class ClusterPatch(Body):
    """What can be changed while the cluster is in use. Omitted fields stay unchanged; `tags` replaces all tags."""

    name: Annotated[ClusterName | SkipJsonSchema[None], AfterValidator(not_null)] = None
    tags: Annotated[Tags | SkipJsonSchema[None], AfterValidator(not_null)] = None
    delete_protection: Annotated[bool | SkipJsonSchema[None], AfterValidator(not_null)] = None
    expires_at: Instant | None = Field(None, description="When the cluster is deleted automatically; null: never.")
    auto_repair: Annotated[bool | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description=_AUTO_REPAIR
    )
    repair_window: RepairWindow | None = Field(None, description=_REPAIR_WINDOW)
    ssh_keys: Annotated[KeyRefs | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description=_CHANGED_KEYS, examples=[["laptop", "ci"]]
    )
    allowed_sources: Annotated[Sources | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description=_SOURCES, examples=[["203.0.113.0/24"]]
    )
    s3_connections: Annotated[S3Names | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description=_S3 + " They replace those from before.", examples=[["training-data"]]
    )
    schedule: ClusterSchedule | None = Field(None, description=_SCHEDULE)
    idle_suspend_minutes: IdleMinutes | None = Field(None, description=_IDLE, examples=[60])


class PartitionOut(Answer):
    """A partition of the cluster's IPUs on the V-IPU controller."""

    name: str
    ipus: int
    reconfigurable: bool


class BillingOut(BillingRule):
    """The rule that the cluster was created under, and its cost so far.

    `cost` is null while a minute has no published price.
    `paused`: the cluster is suspended, suspending, resuming, being repaired or being resized.
    """

    status: Literal["not_started", "running", "paused", "ended"]
    started_at: datetime | None
    minutes: int
    credited_minutes: int
    credited_machines: int = Field(description="Machines that do not work now and are not billed.")
    cost: Money | None
    cost_per_minute: Money | None = Field(
        description="Cost of the present minute, without credited machines; 0 while nothing is billed."
    )


class ResizeOut(Answer):
    """A change of a cluster's size."""

    from_flavor: str = Field(description="The flavor that it had.", examples=["m2000-pod4"])
    to_flavor: str = Field(description="The flavor that it is to have.", examples=["m2000-pod16"])
    moves: bool | None = Field(
        description="Whether the cluster moves to other machines; false: it keeps its own; null: it waits for capacity."
    )


class IdleOut(Answer):
    """Since when nobody uses a cluster, as last observed."""

    since: datetime | None = Field(
        description="Since when there is no login and no attached IPU on any server; null: it is in use, or not known.",
        examples=[None],
    )
    observed_at: datetime | None = Field(description="When its servers were last observed; null: not yet.")


class ClusterItemOut(Answer):
    """A cluster in a list, without its machines."""

    id: UUID
    name: str
    project: str = Field(description="Slug of the project.")
    region: str
    flavor: str
    image: str
    state: ClusterState
    state_reason: str | None
    state_entered_at: datetime
    state_sla_seconds: int | None
    blocked_by: str | None = Field(description=BLOCKED_BY)
    faults: list[FaultOut] = Field(description="What is wrong with its hardware, oldest first.")
    observed_at: datetime | None = Field(
        description="When its hardware was last observed; null if it has none, or was never observed."
    )
    stage: str | None = Field(description="Stage of the open operation on the cluster itself; null: none is open.")
    progress: int = Field(ge=0, le=100, description="Progress of that operation in percent; 100 when none is open.")
    created_at: datetime
    ready_at: datetime | None
    deleted_at: datetime | None
    expires_at: datetime | None
    expiry_warned_at: datetime | None = Field(
        description="When `cluster.expiring` was recorded for this `expires_at`; null: not yet.", examples=[None]
    )
    auto_repair: bool = Field(description=_AUTO_REPAIR)
    repair_window: RepairWindow | None = Field(description=_REPAIR_WINDOW)
    scheduled_repair: ScheduledRepairOut | None = Field(
        description="The repair that is announced or under way; null: none is."
    )
    schedule: ClusterScheduleOut | None = Field(
        description="When it is in use, and what its schedule does next; null: it has none."
    )
    idle_suspend_minutes: int | None = Field(description=_IDLE, examples=[None])
    idle: IdleOut | None = Field(description="Its use; null: it is not watched, because it is not suspended for that.")
    preemptible: bool = Field(description=_PREEMPTIBLE)
    preempt_at: datetime | None = Field(
        description="When it is suspended because an ordinary cluster needs its machines; null: it has no notice.",
        examples=[None],
    )
    delete_protection: bool
    tags: dict[str, str]
    ssh_keys: list[str]
    allowed_sources: list[str] = Field(description=_SOURCES, examples=[["203.0.113.0/24"]])
    s3_connections: list[str] = Field(description="Names of the S3 connections that its servers are to have.")
    addresses: list[ClusterAddressOut] = Field(
        description="Addresses of the project through which its servers are reached, or will be."
    )
    poplar_servers: list[PoplarServerOut]
    partitions: list[PartitionOut]
    ipus: int
    price_per_minute: Money | None
    billing: BillingOut
    operation: OperationSummaryOut | None = Field(
        description="The open operation on the cluster itself; null when none is open. Each partition has its own."
    )
    waiting: CapacityWaitOut | None = Field(description="Its wait for capacity; null: it does not wait.")
    resize: ResizeOut | None = Field(description="The resize under way; null: none is.")
    version: int


class ClusterOut(ClusterItemOut):
    """A cluster with its machines."""

    machines: list[MachineOut]


class ClusterPage(Page[ClusterItemOut]):
    pass


class ClusterRestart(Body):
    """Which Poplar servers are restarted."""

    poplar_servers: list[Annotated[str, Field(max_length=100)]] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="Names of the cluster's Poplar servers; null: all of them.",
        examples=[None],
    )


class ClusterResume(WaitingRequest):
    """How a suspended cluster is resumed."""


class ClusterResize(WaitingRequest):
    """The size that a cluster is to have."""

    flavor: Slug = Field(description="A flavor of the cluster's machine type.", examples=["m2000-pod64"])


DiskChoice: TypeAlias = Literal["keep", "wipe"]
DISKS: tuple[DiskChoice, ...] = get_args(DiskChoice)
"""What becomes of the disk of a server that is rebuilt."""


class ClusterRebuild(Body):
    """How Poplar servers are rebuilt. Omitted fields stay as they are."""

    disk: DiskChoice = Field(
        description="`keep`: `/home` and the SSH host key stay, everything else on the disk is lost. `wipe`:"
        " everything is lost, and the host key is new."
    )
    image: Annotated[Slug | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, examples=["ubuntu-20.04-x64-poplar-1.18.0-3.0.0"]
    )
    user_data: UserData | None = Field(
        None, description="User data for cloud-init in place of the present; null: none."
    )
    ssh_keys: Annotated[KeyRefs | SkipJsonSchema[None], AfterValidator(not_null)] = Field(
        None, description=_CHANGED_KEYS, examples=[["laptop"]]
    )
    poplar_servers: list[Annotated[str, Field(max_length=100)]] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="Names of the cluster's Poplar servers; null: all of them. Image, user data and keys are the"
        " cluster's, and can only be changed with all of them.",
        examples=[None],
    )


class ServerPage(Page[PoplarServerOut]):
    pass


class MachinePage(Page[MachineOut]):
    pass


TAG = "tag."


class ClusterList(NamedListed):
    """Clusters that match every filter; deleted ones only if `state` includes `deleted`."""

    model_config = ConfigDict(extra="allow")
    open_prefix: ClassVar[str] = TAG

    state: list[ClusterState] = Field(default_factory=list, description="Only those in one of these states.")
    region: str | None = Field(None, description="Only clusters in this region.", examples=["luxembourg-2"])
    flavor: str | None = Field(None, description="Only clusters of this flavor.", examples=["m2000-pod16"])
    name: str | None = Field(None, description="Only the cluster with exactly this name.")
    q: str | None = Field(None, description="Only clusters whose name contains this.")
