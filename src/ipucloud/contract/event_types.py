"""The registry of event types.

A type is stable: its `data` may gain members, but its meaning never changes. Types derived from states are listed
here; tests compare them with the state tables.

A request with a misspelt type is refused with suggestions.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError

from ipucloud.contract.event_payloads import clusters, money, platform, projects
from ipucloud.contract.event_payloads.money import BudgetReached, FundsLeft, FundsLow


@dataclass(frozen=True, slots=True)
class EventType:
    """One type of event: its stable `name`, its meaning and its subject.

    `subjects` has the possible values of `subject_type`; empty: any. `payload` is the model of `data`; None: `data`
    is empty. `project`: projects have such events. `account`: billing accounts have them, for their payers.
    `operators`: operators read them too; alone if neither projects nor accounts have them.
    """

    name: str
    meaning: str
    subjects: tuple[str, ...]
    payload: type[BaseModel] | None = None
    project: bool = True
    operators: bool = False
    account: bool = False


REGISTRY: dict[str, EventType] = {}


def _register(
    name: str,
    meaning: str,
    *subjects: str,
    payload: type[BaseModel] | None = None,
    anything: bool = False,
    project: bool = True,
    operators: bool = False,
    account: bool = False,
) -> EventType:
    """The subject is the noun before the dot unless others are named."""
    if name in REGISTRY:
        raise ValueError(f"event type {name} is registered twice")
    about = () if anything else subjects or (name.partition(".")[0],)
    REGISTRY[name] = EventType(name, meaning, about, payload, project, operators, account)
    return REGISTRY[name]


def _register_platform(name: str, meaning: str, *subjects: str, payload: type[BaseModel] | None = None) -> EventType:
    """An event of no project, which operators read."""
    return _register(name, meaning, *subjects, payload=payload, project=False, operators=True)


def _register_money(
    name: str, meaning: str, *, payload: type[BaseModel] | None = None, project: bool = True
) -> EventType:
    """An event that payers of a billing account read."""
    return _register(name, meaning, payload=payload, project=project, account=True)


def _register_members(name: str, meaning: str, subject: str) -> EventType:
    """An event about a member of a project or of a billing account."""
    return _register(name, meaning, subject, payload=projects.MemberOf, account=True)


def _register_states(
    noun: str, meanings: dict[str, str], payload: type[BaseModel], *subjects: str, of_account: Collection[str] = ()
) -> None:
    """`of_account`: the states of which billing accounts have events too."""
    for state, meaning in meanings.items():
        _register(f"{noun}.{state}", meaning, *subjects, payload=payload, account=state in of_account)


CLUSTER_CREATED = _register(
    "cluster.created", "A cluster was requested and its creation has begun.", payload=clusters.ClusterRequested
)
CLUSTER_UPDATED = _register(
    "cluster.updated", "Fields of the cluster were changed by a request.", payload=clusters.ClusterChanged
)
CLUSTER_SUSPEND_FORCED = _register(
    "cluster.suspend_forced",
    "The cluster is being suspended: because of a budget or a token's cost limit, or its account has no funds or did"
    " not pay.",
    payload=clusters.ForcedSuspend,
)
CLUSTER_EXPIRING = _register(
    "cluster.expiring",
    "The cluster expires within an hour, and is deleted then with its data.",
    payload=clusters.ClusterExpires,
)
CLUSTER_SCHEDULE_STARTED = _register(
    "cluster.schedule_started",
    "The cluster's schedule suspends or resumes it.",
    payload=clusters.ScheduleStarts,
)
CLUSTER_SCHEDULE_WAITING = _register(
    "cluster.schedule_waiting",
    "The cluster's schedule has to wait although its time has come; it tries again.",
    payload=clusters.ScheduleWaits,
)
CLUSTER_SCHEDULE_MISSED = _register(
    "cluster.schedule_missed",
    "The cluster's schedule could not do what was due before its next action was.",
    payload=clusters.ScheduleMisses,
)
CLUSTER_IDLE_SUSPENDED = _register(
    "cluster.idle_suspended",
    "The cluster is being suspended because nobody uses it; `data` has the observation that proves it.",
    payload=clusters.SuspendedIdle,
)
CLUSTER_PREEMPTION_SCHEDULED = _register(
    "cluster.preemption_scheduled",
    "The preemptible cluster will be suspended, because a cluster that waits needs its machines.",
    payload=clusters.PreemptionScheduled,
)
CLUSTER_PREEMPTION_WITHDRAWN = _register(
    "cluster.preemption_withdrawn",
    "The preemptible cluster will not be suspended after all.",
    payload=clusters.PreemptionWithdrawn,
)
CLUSTER_PREEMPTED = _register(
    "cluster.preempted",
    "The preemptible cluster is being suspended, because a cluster that waits needs its machines.",
    payload=clusters.ClusterPreempted,
)
CLUSTER_DEGRADED = _register(
    "cluster.degraded",
    "Hardware of the cluster does not work as sold, or other hardware than before.",
    payload=clusters.ClusterDegraded,
)
CLUSTER_RECOVERED = _register("cluster.recovered", "All hardware of a degraded cluster works again; it is active.")
CLUSTER_HARDWARE_ISOLATED = _register(
    "cluster.hardware_isolated",
    "The cluster is cleaned up without hardware that has failed. Nobody gets it before it was cleaned.",
    payload=clusters.HardwareFailed,
    operators=True,
)
CLUSTER_HARDWARE_REPLACED = _register(
    "cluster.hardware_replaced",
    "Hardware of the cluster failed or is to be maintained, and an operation takes other hardware instead.",
    payload=clusters.HardwareFailed,
    operators=True,
)
CLUSTER_SERVERS_REBUILT = _register(
    "cluster.servers_rebuilt",
    "Poplar servers of the cluster were written again; what was on their disks is lost, except what was to be kept.",
    payload=clusters.ServersRebuilt,
)
CLUSTER_DELETE_FORCED = _register(
    "cluster.delete_forced",
    "An operator deletes the cluster, without waiting for hardware that has failed.",
    payload=clusters.DeleteForced,
    operators=True,
)
MAINTENANCE_ANNOUNCED = _register(
    "maintenance.announced",
    "Hardware that the cluster holds will be maintained.",
    "cluster",
    payload=clusters.MaintenanceOf,
    operators=True,
)
CLUSTER_REPAIR_SCHEDULED = _register(
    "cluster.repair_scheduled",
    "A repair of the cluster is scheduled, or scheduled for another time.",
    payload=clusters.RepairScheduled,
)
CLUSTER_REPAIR_STARTED = _register(
    "cluster.repair_started",
    "The scheduled repair of the cluster has begun.",
    payload=clusters.RepairStarted,
    operators=True,
)
CLUSTER_REPAIR_ENDED = _register(
    "cluster.repair_ended",
    "The scheduled repair of the cluster has ended, or will not take place.",
    payload=clusters.RepairEnded,
    operators=True,
)
JOB_QUEUED = _register("job.queued", "A job was requested.", payload=projects.JobOf)
JOB_STARTED = _register("job.started", "The program of a job was seen to run.", payload=projects.JobOf)
JOB_RETRIED = _register("job.retried", "The program of a job failed, and is started again.", payload=projects.JobEnded)
JOB_SUCCEEDED = _register("job.succeeded", "The program of a job ended with exit status 0.", payload=projects.JobEnded)
JOB_FAILED = _register(
    "job.failed", "The program of a job failed, was cut off, or could not be started.", payload=projects.JobEnded
)
JOB_STOPPED = _register(
    "job.stopped", "A job was stopped on request, by a limit, or with its cluster.", payload=projects.JobEnded
)
SERVICE_CREATED = _register("service.created", "A service was requested.", payload=projects.ServiceOf)
SERVICE_STARTED = _register("service.started", "The program of a service was seen to run.", payload=projects.ServiceOf)
SERVICE_RESTARTED = _register(
    "service.restarted",
    "The program of a service ended or was cut off, and is started again.",
    payload=projects.ServiceEnded,
)
SERVICE_FAILED = _register(
    "service.failed",
    "The program of a service ended too often in a row, and is not started again.",
    payload=projects.ServiceEnded,
)
SERVICE_STOPPED = _register(
    "service.stopped", "A service was stopped on request, or with its server or cluster.", payload=projects.ServiceEnded
)
VOLUME_CREATED = _register("volume.created", "A volume was requested.", payload=projects.VolumeOf)
VOLUME_AVAILABLE = _register("volume.available", "The volume exists, and is billed.", payload=projects.VolumeOf)
VOLUME_FAILED = _register("volume.failed", "The site refused to make the volume.", payload=projects.VolumeFailed)
VOLUME_UPDATED = _register("volume.updated", "The name or the tags of a volume changed.", payload=projects.VolumeOf)
VOLUME_ATTACHED = _register("volume.attached", "A Poplar server has the volume.", payload=projects.VolumeAttachedTo)
VOLUME_DETACHED = _register(
    "volume.detached", "The Poplar server no longer has the volume.", payload=projects.VolumeAttachedTo
)
VOLUME_RESIZED = _register(
    "volume.resized", "The volume has grown, and is billed for its new size.", payload=projects.VolumeOf
)
VOLUME_DELETED = _register("volume.deleted", "The data of the volume is gone.", payload=projects.VolumeOf)
TERMINAL_OPENED = _register(
    "terminal.opened", "Somebody opened a terminal of a Poplar server in a browser.", payload=projects.TerminalOf
)
TERMINAL_CLOSED = _register("terminal.closed", "A terminal of a Poplar server ended.", payload=projects.TerminalClosed)
FAULT_REPORT_OPENED = _register(
    "fault_report.opened", "A fault was reported to the operator.", payload=platform.FaultReported, operators=True
)
FAULT_REPORT_CONFIRMED = _register(
    "fault_report.confirmed", "The operator found the reported fault.", payload=platform.FaultReported, operators=True
)
FAULT_REPORT_DISMISSED = _register(
    "fault_report.dismissed",
    "The operator did not find the reported fault.",
    payload=platform.FaultReported,
    operators=True,
)
FAULT_REPORT_CLOSED = _register(
    "fault_report.closed",
    "The cluster of a confirmed fault report was deleted, or suspended without the hardware, before the repair.",
    payload=platform.FaultReported,
    operators=True,
)
FAULT_REPORT_REPAIRED = _register(
    "fault_report.repaired",
    "The hardware with the reported fault was replaced, or works again.",
    payload=platform.FaultReported,
    operators=True,
)
CLUSTER_REPAIR_WAITING = _register(
    "cluster.repair_waiting",
    "The scheduled repair of the cluster has to wait although its time has come.",
    payload=clusters.RepairWaits,
    operators=True,
)
CLUSTER_RESIZED = _register(
    "cluster.resized", "The cluster has another size and is ready for use.", payload=clusters.ClusterResized
)
_register_states(
    "cluster",
    {
        "active": "The cluster is ready for use.",
        "resizing": "The cluster's size is being changed.",
        "suspending": "The cluster is being suspended.",
        "suspended": "The cluster is suspended; its machines are released.",
        "resuming": "The suspended cluster is being resumed.",
        "rebooting": "The cluster's servers are being restarted. Reserved; not emitted yet.",
        "rebuilding": "The cluster is being repaired with other hardware, or its Poplar servers are written again.",
        "error": "The cluster failed and cannot be used. It can be deleted.",
        "deleting": "The cluster is being deleted.",
        "deleted": "The cluster is deleted.",
    },
    clusters.ClusterEntered,
)

OPERATION_CREATED = _register(
    "operation.created", "An operation was accepted.", "cluster", "export", payload=projects.OperationOf, account=True
)
_register_states(
    "operation",
    {
        "cancelling": "A request was made to cancel the operation.",
        "succeeded": "The operation succeeded.",
        "failed": "The operation failed; read it for the error.",
        "cancelled": "The operation was cancelled and its steps were undone.",
    },
    projects.OperationOf,
    "cluster",
    "export",
    of_account=("succeeded", "failed"),
)

_register_states(
    "partition",
    {
        "creating": "The partition is being created.",
        "active": "The partition is ready for use.",
        "resetting": "The partition is being reset.",
        "error": "The V-IPU controller reports an error for the partition.",
        "unknown": "The V-IPU controller reports an unknown state for the partition.",
        "missing": "The partition disappeared from the V-IPU controller without a request to remove it.",
        "removing": "The partition is being removed.",
        "removed": "The partition is removed.",
    },
    clusters.PartitionOf,
)

TOKEN_CREATED = _register("token.created", "A token was created.")
TOKEN_REVOKED = _register("token.revoked", "A token was revoked.")
TOKEN_ROTATED = _register("token.rotated", "A token was replaced with a new one.", payload=projects.TokenReplaced)
MEMBER_INVITED = _register_members("member.invited", "A person was invited to become a member.", "invitation")
MEMBER_JOINED = _register_members("member.joined", "A person accepted an invitation and is a member.", "member")
MEMBER_ROLE_CHANGED = _register("member.role_changed", "A member has another role.", payload=projects.MemberRoleChanged)
MEMBER_REMOVED = _register_members(
    "member.removed", "A member was removed, and their sessions and tokens ended.", "member"
)
SSH_KEY_CREATED = _register("ssh_key.created", "An SSH key was added to the project.")
SSH_KEY_DELETED = _register("ssh_key.deleted", "An SSH key was deleted. Servers that already accept it still do.")
SSH_CERTIFICATE_ISSUED = _register(
    "ssh_certificate.issued",
    "A person got an SSH certificate, which lets them log in to the servers of the cluster for a while.",
    "cluster",
    payload=projects.SshCertificateOf,
)
SSH_AUTHORITY_ROTATED = _register(
    "ssh_authority.rotated",
    "The project's SSH authority was replaced; certificates of the former one end as servers learn of that.",
    payload=projects.SshAuthorityOf,
)

PROJECT_CREATED = _register("project.created", "The project was created.")
PROJECT_UPDATED = _register("project.updated", "The project's settings were changed.")
PROJECT_DELETED = _register("project.deleted", "The project was deleted and its tokens were revoked.")
PROJECT_ACCOUNT_CHANGED = _register_money(
    "project.account_changed",
    "Another billing account pays for the project from the next full hour on.",
    payload=money.AccountAssigned,
)
PROJECT_CHARGES_CORRECTED = _register(
    "project.charges_corrected",
    "A past price was corrected, and the project's charges with it.",
    payload=money.ChargesCorrected,
)
QUOTA_REQUEST_OPENED = _register(
    "quota_request.opened", "A higher quota was asked for.", payload=projects.QuotaRequested, operators=True
)
QUOTA_REQUEST_GRANTED = _register(
    "quota_request.granted",
    "The quota was raised, to what was asked for or to less.",
    payload=projects.QuotaRequested,
    operators=True,
)
QUOTA_REQUEST_DECLINED = _register(
    "quota_request.declined",
    "The operator declined the higher quota, and says why.",
    payload=projects.QuotaRequested,
    operators=True,
)
QUOTA_REQUEST_WITHDRAWN = _register(
    "quota_request.withdrawn",
    "The project no longer asks for the higher quota.",
    payload=projects.QuotaRequested,
    operators=True,
)
RESERVATION_CREATED = _register(
    "reservation.created", "Capacity was reserved; its machines are held.", payload=projects.ReservedCapacity
)
RESERVATION_ACTIVE = _register(
    "reservation.active",
    "The reservation began: it is billed, and clusters can be created from it.",
    payload=projects.ReservedCapacity,
)
RESERVATION_ENDED = _register(
    "reservation.ended",
    "The reservation's time is over. Its clusters go on, and are billed themselves.",
    payload=projects.ReservedCapacity,
)
RESERVATION_CANCELLED = _register(
    "reservation.cancelled", "The reservation was cancelled before it began.", payload=projects.ReservedCapacity
)
QUOTA_UPDATED = _register("quota.updated", "The project's quotas were replaced.", "project")

WEBHOOK_CREATED = _register("webhook.created", "A webhook was created.", account=True)
WEBHOOK_UPDATED = _register("webhook.updated", "The webhook's settings were changed.", account=True)
WEBHOOK_DELETED = _register("webhook.deleted", "A webhook and its deliveries were deleted.", account=True)
WEBHOOK_SECRET_ROTATED = _register("webhook.secret_rotated", "The webhook's secret was replaced.", account=True)
WEBHOOK_DISABLED = _register(
    "webhook.disabled",
    "The webhook was disabled; no more messages are sent to it.",
    payload=projects.WebhookStopped,
    account=True,
)

INVOICE_ISSUED = _register_money(
    "invoice.issued",
    "An invoice was issued. A project has the event if all charges are its own.",
    payload=money.InvoiceNumbered,
)
CREDIT_NOTE_ISSUED = _register_money(
    "credit_note.issued",
    "A credit note was issued. A project has the event if it is about this project only.",
    payload=money.CreditNoteNumbered,
)
BUDGET_CREATED = _register("budget.created", "A budget was created.")
BUDGET_UPDATED = _register("budget.updated", "The budget was changed.")
BUDGET_DELETED = _register("budget.deleted", "The budget was deleted.")
BUDGET_THRESHOLD_REACHED = _register_money(
    "budget.threshold_reached",
    "The month's cost has reached a threshold of the budget.",
    payload=BudgetReached,
)
BUDGET_FORECAST_REACHED = _register_money(
    "budget.forecast_reached",
    "The month's forecast has reached a threshold of the budget.",
    payload=BudgetReached,
)
ACCOUNT_FUNDS_EXHAUSTED = _register_money(
    "account.funds_exhausted", "The prepaid account that pays for the project is empty.", payload=FundsLeft
)
ACCOUNT_FUNDS_LOW = _register_money(
    "account.funds_low",
    "The funds of the prepaid account that pays for the project end within `hours`, one of its levels.",
    payload=FundsLow,
)
ACCOUNT_FUNDS_RESTORED = _register_money(
    "account.funds_restored",
    "The prepaid account that pays for the project has funds again.",
    payload=FundsLeft,
)
INVOICE_OVERDUE = _register_money(
    "invoice.overdue",
    "An invoice of the account that pays for the project is overdue: a reminder.",
    payload=money.InvoiceOverdue,
)
ACCOUNT_RESTRICTED = _register_money(
    "account.restricted",
    "The account that pays for the project is restricted because an invoice is overdue.",
    payload=money.AccountRestricted,
)
ACCOUNT_RESTRICTION_LIFTED = _register_money(
    "account.restriction_lifted", "The account that pays for the project is no longer restricted."
)
ACCOUNT_TOP_UP_REQUESTED = _register_money(
    "account.top_up_requested",
    "A top-up of the prepaid account that pays for the project was requested by its policy.",
    payload=money.TopUpOf,
)
ACCOUNT_TOPPED_UP = _register_money(
    "account.topped_up",
    "The prepaid account that pays for the project was topped up by its policy.",
    payload=money.TopUpOf,
)
ACCOUNT_TOP_UP_PAUSED = _register_money(
    "account.top_up_paused",
    "Automatic top-ups of the prepaid account that pays for the project are paused.",
    payload=money.TopUpPaused,
)
ACCOUNT_TOP_UP_RESUMED = _register_money(
    "account.top_up_resumed", "Automatic top-ups of the prepaid account that pays for the project are resumed."
)
PAYMENT_RECEIVED = _register_money(
    "payment.received", "A payment of the account came in.", payload=money.PaymentOf, project=False
)
PAYMENT_FAILED = _register_money(
    "payment.failed", "A payment of the account will not come.", payload=money.PaymentFailed, project=False
)
PAYMENT_REFUNDED = _register_money(
    "payment.refunded", "The account was refunded from its wallet.", payload=money.PaymentOf, project=False
)
AUDIT_REPAIRED = _register(
    "audit.repaired",
    "An audit repaired the subject; if it has no id of its own, the subject is the project.",
    payload=platform.AuditRepair,
    operators=True,
    anything=True,
)

FREEZE_STARTED = _register_platform(
    "freeze.started", "Removals are frozen, until `expires_at` at the latest.", payload=platform.FreezeOf
)
FREEZE_ENDED = _register_platform(
    "freeze.ended",
    "A freeze of removals has ended: by an operator, because another one took its place, or by its expiry.",
    payload=platform.FreezeOf,
)
HARDWARE_MAINTAINED = _register_platform(
    "hardware.maintained",
    "An operator maintains hardware, or has announced that.",
    "region",
    payload=platform.HardwareOrdered,
)
HARDWARE_DRAINED = _register_platform(
    "hardware.drained", "An operator keeps new clusters from hardware.", "region", payload=platform.HardwareOrdered
)
HARDWARE_QUARANTINED = _register_platform(
    "hardware.quarantined", "An operator suspects hardware.", "region", payload=platform.HardwareOrdered
)
HARDWARE_RETURNED = _register_platform(
    "hardware.returned_to_service",
    "An operator ended maintenance, drain or quarantine; or isolated or replaced hardware was observed good.",
    "region",
    payload=platform.HardwareOrdered,
)
AUTOMATION_HALTED = _register_platform(
    "automation.halted",
    "Too much hardware failed at once: nothing acts by itself in the region.",
    "region",
    payload=platform.MassDisappearance,
)
AUTOMATION_RESUMED = _register_platform(
    "automation.resumed", "So little hardware is failing that workers act by themselves again.", "region"
)
INVENTORY_DIFFERS = _register_platform(
    "inventory.differs",
    "Hardware is not as the expected inventory has it; new clusters do not get it.",
    *("machine", "host"),
    payload=platform.InventoryDiffers,
)
INVENTORY_AGREES = _register_platform(
    "inventory.agrees",
    "Hardware is again as the expected inventory has it.",
    *("machine", "host"),
    payload=platform.InventoryDiffers,
)

PRICE_MISSING = _register_platform(
    "price.missing",
    "Minutes were used that have no price. They are charged when they get one.",
    "region",
    payload=money.UnpricedUse,
)
PRICE_SUPPLIED = _register_platform(
    "price.supplied", "Every minute that had no price was charged.", "region", payload=money.UnpricedUse
)
PRICE_CORRECTION_ACCEPTED = _register_platform(
    "price_correction.accepted",
    "A past price was corrected; what was used is rated again.",
    payload=money.PriceCorrectionOf,
)
PRICE_CORRECTION_FINISHED = _register_platform(
    "price_correction.finished", "Every closed hour was rated again.", payload=money.PriceCorrectionOf
)
BILLING_MONTH_SEALED = _register_platform(
    "billing_month.sealed", "A billing month was sealed; its invoices follow.", payload=money.BillingMonthOf
)
BILLING_MONTH_LATE = _register_platform(
    "billing_month.late",
    "A billing month is not sealed a day after it should have been.",
    payload=money.BillingMonthOf,
)

OPERATOR_TYPES = sorted(name for name, kind in REGISTRY.items() if kind.operators)
"""The types that operators read."""
ACCOUNT_TYPES = sorted(name for name, kind in REGISTRY.items() if kind.account)
"""The types that billing accounts have."""
TYPES = sorted(name for name, kind in REGISTRY.items() if kind.project)
"""The types that projects have."""
PATTERNS = sorted({*TYPES, *(f"{name.partition('.')[0]}.*" for name in TYPES)})
"""Every valid pattern: each type, and all types of a noun, such as `cluster.*`."""
ACCOUNT_PATTERNS = sorted({*ACCOUNT_TYPES, *(f"{name.partition('.')[0]}.*" for name in ACCOUNT_TYPES)})
"""The same of billing accounts."""

_NEAR = 0.5
"""Minimum similarity of a suggestion, as `difflib` measures it."""


def _one_of(known: list[str]) -> AfterValidator:
    def check(sent: str) -> str:
        if sent in known:
            return sent
        near = " or ".join(f"`{name}`" for name in get_close_matches(sent, known, cutoff=_NEAR))
        meant = f"did you mean {near}? " if near else ""
        raise PydanticCustomError(
            "unknown_event_type", f"`{sent}` matches no event type; {meant}GET /v1/event-types lists all"
        )

    return AfterValidator(check)


# The form is checked first, so that a refusal never repeats more than a well-formed name.
EventTypeName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z_]{0,62}\.[a-z][a-z_]{0,62}$", json_schema_extra={"enum": list(TYPES)}),
    _one_of(TYPES),
]
"""One registered type. For any other, pydantic's error has the type `unknown_event_type`."""
OperatorEventTypeName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z_]{0,62}\.[a-z][a-z_]{0,62}$", json_schema_extra={"enum": list(OPERATOR_TYPES)}),
    _one_of(OPERATOR_TYPES),
]
"""The same, of those that operators read."""
AccountEventTypeName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z_]{0,62}\.[a-z][a-z_]{0,62}$", json_schema_extra={"enum": list(ACCOUNT_TYPES)}),
    _one_of(ACCOUNT_TYPES),
]
"""The same, of those that billing accounts have."""
EventTypePattern = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z_]{0,62}\.([a-z][a-z_]{0,62}|\*)$",
        examples=["cluster.*"],
        json_schema_extra={"enum": list(PATTERNS)},
    ),
    _one_of(PATTERNS),
]
"""One registered type, or all types of a noun."""
AccountEventTypePattern = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z_]{0,62}\.([a-z][a-z_]{0,62}|\*)$",
        examples=["invoice.*"],
        json_schema_extra={"enum": list(ACCOUNT_PATTERNS)},
    ),
    _one_of(ACCOUNT_PATTERNS),
]
"""The same, of those that billing accounts have."""
