"""Schemas of the `data` of events. Members may be added; none changes its meaning."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, RootModel

from ipucloud.contract.jobs import JobEndedBy
from ipucloud.contract.preemption import PreemptionOutcome
from ipucloud.contract.repairs import RepairOutcome, RepairReason, WaitsFor
from ipucloud.contract.schedules import ScheduledAction, ScheduleWaitsFor
from ipucloud.contract.services import ServiceEndedBy
from ipucloud.contract.terminals import TerminalEnd

Late = Annotated[bool, Field(description="An audit appended the event afterwards.")]


class Payload(BaseModel):
    """The `data` of an event."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class AmountOfMoney(Payload):
    """An exact amount of a currency."""

    amount: str = Field(description="Exact decimal.", examples=["400.00"])
    currency: str = Field(description="ISO 4217 code of the currency.", examples=["EUR"])


class MemberOf(Payload):
    """Who it is about."""

    email: str = Field(description="E-mail of the person.", examples=["ann@example.com"])
    role: str = Field(description="Role of the person.", examples=["operator"])


class MemberRoleChanged(MemberOf):
    """Who has another role."""

    previous: str = Field(description="Role that the person had.", examples=["viewer"])


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


class JobOf(Payload):
    """A job of a cluster."""

    cluster: UUID = Field(description="Id of the cluster.")
    number: int = Field(description="Number of the job in its cluster.", examples=[1])
    attempt: int = Field(description="Which start of the program it is, from 1 on.", examples=[1])


class JobEnded(JobOf):
    """How a job, or one start of its program, ended."""

    ended_by: JobEndedBy | None = Field(
        None, description="What ended it; absent or null: it is started again.", examples=["program"]
    )
    exit_status: int | None = Field(
        None, description="Exit status of the program; absent or null: it did not end by itself.", examples=[3]
    )
    reason: str | None = Field(
        None, description="Why, for people; absent or null: it succeeded.", examples=["exit status 3"]
    )


class ServiceOf(Payload):
    """A service of a cluster."""

    cluster: UUID = Field(description="Id of the cluster.")
    name: str = Field(description="Name of the service.", examples=["chat"])
    attempt: int = Field(description="Which start of its program it is, from 1 on.", examples=[1])


class ServiceEnded(ServiceOf):
    """How a service, or one start of its program, ended."""

    ended_by: ServiceEndedBy | None = Field(
        None, description="What ended it; absent or null: it is started again.", examples=["request"]
    )
    exit_status: int | None = Field(
        None, description="Exit status of the program; absent or null: it did not end by itself.", examples=[3]
    )
    reason: str = Field(description="Why, for people.", examples=["exit status 3; start 2 follows"])


class TerminalOf(Payload):
    """A terminal of a Poplar server."""

    cluster: UUID = Field(description="Id of the cluster.")
    poplar_server: str = Field(description="Name of the Poplar server.", examples=["ipc-3k9a-p1"])
    actor: str | None = Field(
        None, description="E-mail of the person, or name of the token, that opened it.", examples=["ada@example.com"]
    )


class TerminalClosed(TerminalOf):
    """How a terminal ended."""

    ended_by: TerminalEnd = Field(description="What ended it.", examples=["shell"])
    seconds: int = Field(description="How long it was open.", examples=[312])


class SshCertificateOf(Payload):
    """An SSH certificate that was issued."""

    key_id: str = Field(
        description="What servers write to their log at a login with it.", examples=["ada@example.com#17"]
    )
    serial: int = Field(description="Its number among those of the authority.", examples=[17])
    fingerprint: str = Field(description="Of the key that it certifies.", examples=["SHA256:w2Zc…"])
    authority: str = Field(description="Fingerprint of the authority that signed it.", examples=["SHA256:w2Zc…"])
    valid_until: datetime = Field(description="When it ends.", examples=["2026-05-04T10:00:00Z"])


class SshAuthorityOf(Payload):
    """An SSH authority."""

    fingerprint: str = Field(description="Of its public key.", examples=["SHA256:w2Zc…"])
    former: str | None = Field(
        description="Fingerprint of the authority that it replaces; null if there was none.", examples=["SHA256:w2Zc…"]
    )


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
    name: str = Field(description="Name of the machine or Poplar server.", examples=["lu2-r1-m01"])
    code: str = Field(description="Stable code of the fault.", examples=["bmc_critical"])
    message: str = Field(description="The fault, for people.")
    since: datetime = Field(description="When the fault was first seen.")
    credited: bool = Field(description="Whether minutes with this fault are credited.")


class FreezeOf(Payload):
    """A freeze of removals."""

    reason: str = Field(description="Why it was started, or ended.")
    expires_at: datetime | None = Field(None, description="When it ends by itself; absent or null once it has ended.")


class HardwareOrdered(Payload):
    """What an operator ordered, or a worker did."""

    machines: list[str] = Field(description="Names of the machines.", examples=[["lu2-r1-m01"]])
    hosts: list[str] = Field(description="Names of the hosts.")
    reason: str | None = Field(None, description="Why; absent or null for a return to service by an operator.")
    starts_at: datetime | None = Field(None, description="Of maintenance: when it begins; absent or null: at once.")
    ordered_by: UUID | None = Field(None, description="Id of the operator's token; absent or null for a worker.")


class MassDisappearance(Payload):
    """Hardware that failed at once."""

    failed: int = Field(description="Machines and hosts that are newly failing.")
    objects: int = Field(description="Machines and hosts of the region.")
    limit: int = Field(description="How many may fail at once.")


class InventoryDiffers(Payload):
    """A difference from the expected inventory."""

    code: str = Field(description="Code of the health report.", examples=["wrong_serial"])
    detail: str = Field(description="What was expected and shown.")


class UnpricedUse(Payload):
    """Whose minutes of use have no price, or had none."""

    account_id: UUID = Field(description="Account that pays.")
    sku: str = Field(description="SKU that has no price.", examples=["ipu-m2000"])
    currency: str = Field(description="Currency in which it has none.", examples=["EUR"])
    hour: datetime = Field(description="Start of the hour in which this was found.")


class PriceCorrectionOf(Payload):
    """A correction of a past price."""

    correction: UUID = Field(description="Id of the correction.")
    sku: str = Field(description="SKU whose price is corrected.", examples=["ipu-m2000"])
    reason: str = Field(description="Why, in the operator's words.")


class ChargesCorrected(Payload):
    """A past price that was corrected, and what that changes for the project."""

    sku: str = Field(description="SKU whose price was corrected.", examples=["ipu-m2000"])
    region: str = Field(description="Slug of the region.")
    since: datetime = Field(description="Start of the corrected period.")
    until: datetime | None = Field(description="End of the period, exclusive; null: no end.")
    unit_price: AmountOfMoney = Field(description="The corrected price, per minute of the SKU's unit.")
    difference: AmountOfMoney = Field(description="What more the project's use costs; negative: less.")


class BillingMonthOf(Payload):
    """A billing month."""

    month: str = Field(description="The month.", examples=["2026-05"])


class FaultReported(Payload):
    """What a customer reported, and the operator's answer."""

    cluster: UUID = Field(description="Id of the cluster.")
    kind: Literal["machine", "poplar_server"] = Field(description="What is affected.")
    name: str = Field(description="Name of the machine or Poplar server.", examples=["lu2-r1-m01"])
    answer: str | None = Field(None, description="The operator's answer; absent or null before there is one.")


class QuotaRequested(Payload):
    """A higher quota that was asked for, and the operator's decision."""

    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    machine_type: str = Field(description="Type of the machines.", examples=["m2000"])
    limit: int = Field(description="How many machines the project wants to be able to hold.", examples=[128])
    granted_limit: int | None = Field(
        None, description="The new limit; absent or null unless it was granted.", examples=[64]
    )
    answer: str | None = Field(None, description="The operator's answer; absent or null: none.")


class VolumeOf(Payload):
    """A volume."""

    name: str = Field(description="Name of the volume.", examples=["checkpoints"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    size_gib: int = Field(description="Size in GiB.", examples=[100])


class VolumeAttachedTo(VolumeOf):
    """A volume, and the Poplar server that has it, or had it."""

    cluster: UUID = Field(description="Id of the cluster.")
    poplar_server: str = Field(description="Name of the Poplar server.", examples=["bert-p0"])


class VolumeFailed(VolumeOf):
    """A volume that could not be made, and why."""

    reason: str = Field(description="Why, for people.", examples=["The site has no space for it."])


class ReservedCapacity(Payload):
    """A reservation."""

    name: str = Field(description="Name of the reservation.", examples=["may-training"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    flavor: str = Field(description="Name of the flavor of its clusters.", examples=["m2000-pod64"])
    count: int = Field(description="How many clusters of the flavor it has room for.", examples=[2])
    starts_at: datetime = Field(description="When it begins.", examples=["2026-05-11T08:00:00Z"])
    ends_at: datetime = Field(description="When it ends.", examples=["2026-05-13T08:00:00Z"])


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
    """Poplar servers that were written again."""

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


class OperationOf(Payload):
    """The operation's kind, and its partition if it changes one."""

    kind: str = Field(description="The operation's kind.", examples=["cluster.create"])
    partition: UUID | None = Field(None, description="Id of the partition that it changes; absent or null for others.")
    late: Late = False


class PartitionOf(Payload):
    """The partition's cluster."""

    cluster: UUID = Field(description="The cluster that the partition belongs to.")
    reason: str | None = Field(None, description="Why it is so, for people; absent if it needs no explanation.")


class TokenReplaced(Payload):
    """The replacement of a token."""

    replaced_by: UUID = Field(description="The new token.")


class AccountAssigned(Payload):
    """The account that pays for a project."""

    account_id: UUID = Field(description="The account that pays from the next full hour on.")


class WebhookStopped(Payload):
    """Why a webhook is disabled."""

    reason: Literal["by_owner", "gone", "failing"] = Field(
        description="Its owner disabled it, it answered 410, or it failed for three days."
    )


class InvoiceNumbered(Payload):
    """The issued invoice."""

    number: str = Field(description="The invoice's number.")


class CreditNoteNumbered(Payload):
    """The issued credit note."""

    number: str = Field(description="The credit note's number.")
    corrects: list[str] = Field(description="Numbers of the documents that it corrects, the oldest first.")


class BudgetReached(Payload):
    """A threshold of a budget, and the figure that reached it."""

    name: str = Field(description="The budget's name.")
    month: str = Field(description="Year and month.", examples=["2026-05"])
    percent: int = Field(description="The threshold, in percent of the budget's amount.")
    amount: AmountOfMoney = Field(description="The budget's amount.")
    figure: AmountOfMoney = Field(description="The actual or forecast cost.")
    action: str | None = Field(description="The threshold's action; null: none.")


class FundsLeft(Payload):
    """The funds of a prepaid account."""

    when_empty: str = Field(description="The account's policy for when its funds are exhausted.")
    left: AmountOfMoney = Field(description="Remaining funds, before holds; negative: overdrawn.")
    lasts_until: datetime | None = Field(
        description="When the funds end if the present clusters go on; null: not within a year."
    )


class FundsLow(FundsLeft):
    """The funds of a prepaid account that will soon be empty."""

    hours: int = Field(description="The level that was reached: the funds last no longer than so many hours.")


class InvoiceOverdue(Payload):
    """A reminder of an overdue invoice."""

    number: str = Field(description="The invoice's number.")
    due_on: date = Field(description="When it was to be paid.")
    level: int = Field(description="The level of the account's policy that was reached, in days after the due date.")
    outstanding: AmountOfMoney = Field(description="What is still to be paid of it.")


class AccountRestricted(Payload):
    """How an account with overdue invoices is restricted."""

    restriction: Literal["refuse_creates", "suspend"] = Field(
        description="Clusters are no longer created or resumed; or active ones are suspended too."
    )


class PaymentOf(Payload):
    """A payment of a billing account, or a refund."""

    reference: str = Field(description="Its reference at the payment provider, or of a bank transfer.")
    amount: AmountOfMoney = Field(description="What was paid, or refunded.")


class PaymentFailed(PaymentOf):
    """A payment that was expected."""

    reason: str = Field(description="Why it will not come.")


class TopUpOf(Payload):
    """An automatic top-up of a prepaid account."""

    payment: UUID = Field(description="The payment.")
    reference: str = Field(description="Its reference at the payment provider, or for a bank transfer.")
    amount: AmountOfMoney = Field(description="What was requested.")


class TopUpPaused(Payload):
    """Why a prepaid account is not topped up any more."""

    reason: Literal["payment_failed", "month_limit"] = Field(
        description="A top-up failed, or the next one would exceed the month's limit."
    )
    detail: str = Field(description="The same as a sentence.")


class AuditRepair(Payload):
    """The violated rule and the audit's repair."""

    rule: str = Field(description="The violated rule.")
    action: str = Field(description="The repair.")
