"""The `data` of events about clusters, their partitions, repairs and maintenance."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, RootModel

from ipucloud.contract.capacity import PreemptionOutcome
from ipucloud.contract.event_payloads.base import Late, Payload
from ipucloud.contract.repairs import RepairOutcome, RepairReason, WaitsFor
from ipucloud.contract.schedules import ScheduledAction, ScheduleWaitsFor


class ClusterRequested(Payload):
    """The requested cluster."""

    region: str = Field(description="The region's slug.")
    flavor: str = Field(description="The flavor's name.")
    late: Late = False


class ClusterChanged(Payload):
    """The changed fields."""

    fields: list[str] = Field(description="Names of the fields that changed.")


class ClusterExpires(Payload):
    """When a cluster is deleted by itself."""

    expires_at: datetime = Field(description="When it is deleted, unless `expires_at` is changed until then.")


class PreemptionScheduled(Payload):
    """The notice of a preemptible cluster."""

    preempt_at: datetime = Field(
        description="When it is suspended, unless that is withdrawn.", examples=["2026-05-04T06:10:00Z"]
    )


class PreemptionWithdrawn(Payload):
    """A notice that ends without a suspension for it."""

    preempt_at: datetime = Field(description="When it would have been suspended.", examples=["2026-05-04T06:10:00Z"])
    outcome: PreemptionOutcome = Field(
        description="`not_needed`: nobody needs its machines any more; `not_in_use`: it was stopped or deleted before.",
        examples=["not_needed"],
    )


class ClusterPreempted(Payload):
    """A preemptible cluster is being suspended."""

    preempt_at: datetime = Field(
        description="When it was to be suspended at the earliest.", examples=["2026-05-04T06:10:00Z"]
    )


class ScheduleStarts(Payload):
    """What a schedule has begun."""

    action: ScheduledAction = Field(description="Suspend or resume.", examples=["resume"])
    due_at: datetime = Field(description="Its time by the schedule.", examples=["2026-05-04T06:00:00Z"])


class ScheduleWaits(Payload):
    """What a schedule cannot begin yet."""

    action: ScheduledAction = Field(description="Suspend or resume.", examples=["resume"])
    due_at: datetime = Field(description="Its time by the schedule.", examples=["2026-05-04T06:00:00Z"])
    waits_for: ScheduleWaitsFor = Field(
        description="A running operation, the code of a refusal, or a resume that did not succeed.",
        examples=["capacity_exhausted"],
    )
    detail: str = Field(description="The same for people.", examples=["The region has no room for it."])
    retry_at: datetime | None = Field(
        description="When it is tried again; null: as soon as possible.", examples=["2026-05-04T06:05:00Z"]
    )


class ScheduleMisses(Payload):
    """What a schedule could not begin before its next action was due."""

    action: ScheduledAction = Field(description="Suspend or resume.", examples=["resume"])
    due_at: datetime = Field(description="Its time by the schedule.", examples=["2026-05-04T06:00:00Z"])
    waits_for: ScheduleWaitsFor = Field(description="What it last waited for.", examples=["capacity_exhausted"])


class IdleServer(Payload):
    """What was observed of a Poplar server that nobody uses."""

    name: str = Field(description="The server's name.", examples=["clu-01-1-p0"])
    sessions: int = Field(description="Logins that were open.", examples=[0])
    attached_ipus: int = Field(description="IPUs that programs held.", examples=[0])
    idle_since: datetime = Field(description="When it was last in use.", examples=["2026-05-04T09:40:00Z"])
    observed_at: datetime = Field(description="When that was observed.", examples=["2026-05-04T13:14:57Z"])


class SuspendedIdle(Payload):
    """The observation that proved that nobody uses a cluster."""

    idle_suspend_minutes: int = Field(description="Minutes without use that its customer allows.", examples=[60])
    idle_since: datetime = Field(description="When it was last in use.", examples=["2026-05-04T09:40:00Z"])
    poplar_servers: list[IdleServer] = Field(description="What was observed of each of its Poplar servers.")


class ClusterEntered(Payload):
    """Why a cluster entered a state."""

    reason: str | None = Field(None, description="Reason, for people; absent or null if it was requested.")
    late: Late = False


class ClusterResized(Payload):
    """The cluster's former size and its present one."""

    from_flavor: str = Field(description="Its flavor before.", examples=["m2000-pod4"])
    to_flavor: str = Field(description="Its flavor now.", examples=["m2000-pod16"])
    moved: bool = Field(description="Whether it has other machines; false: it kept its own.")


class ClusterFault(Payload):
    """Something wrong with a cluster's hardware."""

    kind: Literal["machine", "poplar_server", "link"] = Field(description="What is affected.")
    name: str = Field(description="Name of the machine or Poplar server.", examples=["lux2-p001-m01"])
    code: str = Field(description="Stable code of the fault.", examples=["bmc_critical"])
    message: str = Field(description="The fault, for people.")
    since: datetime = Field(description="When the fault was first seen.")
    credited: bool = Field(description="Whether minutes with this fault are credited.")


class ClusterDegraded(Payload):
    """Why a cluster does not work as sold."""

    reason: str | None = Field(None, description="Faults and what happens next, for people.")
    faults: list[ClusterFault] = Field(default_factory=list, description="The faults, oldest first.")
    credited_machines: int = Field(0, description="Machines whose minutes are not billed.")
    late: Late = False


class BudgetRef(Payload):
    """A budget."""

    id: UUID = Field(description="The budget's id.")
    name: str = Field(description="The budget's name.")


class OverBudget(Payload):
    """A budget suspends clusters once this threshold is reached."""

    reason: Literal["budget"] = Field(description="A budget's threshold was reached.")
    budget: BudgetRef = Field(description="The budget.")
    on: Literal["actual", "forecast"] = Field(description="The figure that reached the threshold.")
    percent: int = Field(description="The threshold, in percent of the budget's amount.")


class TokenRef(Payload):
    """A token, as an event names it."""

    id: UUID = Field(description="The token's id.")
    name: str = Field(description="The token's name.")


class OverCostLimit(Payload):
    """The clusters of a token have cost as much as its limit."""

    reason: Literal["cost_limit"] = Field(description="A token's cost limit was reached.")
    token: TokenRef = Field(description="The token.")


class OutOfFunds(Payload):
    """A prepaid account has no funds left."""

    reason: Literal["funds"] = Field(description="The account ran out of funds.")
    account: UUID = Field(description="The prepaid account.")


class PaymentOverdue(Payload):
    """An invoice of an account is overdue for too long."""

    reason: Literal["overdue"] = Field(description="An invoice is overdue.")
    account: UUID = Field(description="The account that has to pay it.")
    invoice: str = Field(description="The invoice's number.")


class ForcedSuspend(
    RootModel[Annotated[OverBudget | OverCostLimit | OutOfFunds | PaymentOverdue, Field(discriminator="reason")]]
):
    """Why a cluster is suspended without a request."""

    model_config = ConfigDict(frozen=True)


class HardwareFailed(Payload):
    """The hardware that an operation could not work with."""

    machines: list[str] = Field(description="Names of IPU machines.", examples=[["pod1-m3"]])
    hosts: list[str] = Field(description="Names of Poplar servers' hosts.", examples=[[]])
    reason: str = Field(description="What is wrong with it, for people.", examples=["machine pod1-m3 did not answer"])


class ServersRebuilt(Payload):
    """Poplar servers that were rebuilt."""

    servers: list[str] = Field(description="Their names.", examples=[["clu-01-1-p0"]])
    image: str = Field(description="The image that they have now.", examples=["ubuntu-20.04-x64-poplar-1.18.0-3.0.0"])
    disk: Literal["keep", "wipe"] = Field(
        description="`keep`: only `/home` and the SSH host key are as before; `wipe`: nothing is."
    )


class DeleteForced(Payload):
    """Why an operator deletes a cluster."""

    reason: str = Field(description="The operator's reason.", examples=["its rack was destroyed by a fire"])


class RepairWaits(Payload):
    """A repair that has not begun although its time has come."""

    reason: RepairReason = Field(description="A fault of its hardware, or planned maintenance.")
    hardware: list[str] = Field(
        description="Names of the machines and hosts that are replaced.", examples=[["pod1-m3"]]
    )
    waits_for: WaitsFor = Field(
        description="Room, other clusters of the region, or an operator.", examples=["capacity"]
    )


class RepairStarted(Payload):
    """A repair: a cluster gets other hardware in place of some of its own."""

    reason: RepairReason = Field(description="A fault of its hardware, or planned maintenance.")
    hardware: list[str] = Field(
        description="Names of the machines and hosts that are replaced.", examples=[["pod1-m3"]]
    )


class RepairScheduled(RepairStarted):
    """A repair with its time."""

    starts_at: datetime = Field(description="When it begins.", examples=["2026-05-09T00:00:00Z"])
    latest_at: datetime = Field(
        description="The latest time that it can be rescheduled to.", examples=["2026-05-11T13:10:05Z"]
    )


class MaintenanceOf(Payload):
    """Planned maintenance of hardware that a cluster holds."""

    hardware: list[str] = Field(description="Names of the machines and hosts.", examples=[["pod1-m3"]])
    starts_at: datetime = Field(description="When it begins.", examples=["2026-05-08T06:00:00Z"])
    urgent: bool = Field(description="Whether it cannot wait for the usual notice.", examples=[False])


class RepairEnded(RepairStarted):
    """A repair with its outcome."""

    outcome: RepairOutcome = Field(
        description="`repaired`, `failed` or `cancelled`: its operation ended so. `not_needed`: nothing is wrong any"
        " more. `superseded`: another request or another setting came first. `maintained`: the hardware is maintained"
        " where it is.",
        examples=["repaired"],
    )


class PartitionOf(Payload):
    """The partition's cluster."""

    cluster: UUID = Field(description="The cluster that the partition belongs to.")
    reason: str | None = Field(None, description="Why it is so, for people; absent if it needs no explanation.")
