"""Types of events about members, programs, volumes, addresses, reservations and what else a project has."""

from __future__ import annotations

from ipucloud.contract.event_payloads import money, projects
from ipucloud.contract.event_types.registry import register, register_members, register_money

JOB_QUEUED = register("job.queued", "A job was requested.", payload=projects.JobOf)
JOB_STARTED = register("job.started", "The program of a job was seen to run.", payload=projects.JobOf)
JOB_RETRIED = register("job.retried", "The program of a job failed, and is started again.", payload=projects.JobEnded)
JOB_SUCCEEDED = register("job.succeeded", "The program of a job ended with exit status 0.", payload=projects.JobEnded)
JOB_FAILED = register(
    "job.failed", "The program of a job failed, was cut off, or could not be started.", payload=projects.JobEnded
)
JOB_STOPPED = register(
    "job.stopped", "A job was stopped on request, by a limit, or with its cluster.", payload=projects.JobEnded
)
SERVICE_CREATED = register("service.created", "A service was requested.", payload=projects.ServiceOf)
SERVICE_STARTED = register("service.started", "The program of a service was seen to run.", payload=projects.ServiceOf)
SERVICE_RESTARTED = register(
    "service.restarted",
    "The program of a service ended or was cut off, and is started again.",
    payload=projects.ServiceEnded,
)
SERVICE_FAILED = register(
    "service.failed",
    "The program of a service ended too often in a row, and is not started again.",
    payload=projects.ServiceEnded,
)
SERVICE_STOPPED = register(
    "service.stopped", "A service was stopped on request, or with its server or cluster.", payload=projects.ServiceEnded
)
VOLUME_CREATED = register("volume.created", "A volume was requested.", payload=projects.VolumeOf)
VOLUME_AVAILABLE = register("volume.available", "The volume exists, and is billed.", payload=projects.VolumeOf)
VOLUME_FAILED = register("volume.failed", "The site refused to make the volume.", payload=projects.VolumeFailed)
VOLUME_UPDATED = register("volume.updated", "The name or the tags of a volume changed.", payload=projects.VolumeOf)
VOLUME_ATTACHED = register("volume.attached", "A Poplar server has the volume.", payload=projects.VolumeAttachedTo)
VOLUME_DETACHED = register(
    "volume.detached", "The Poplar server no longer has the volume.", payload=projects.VolumeAttachedTo
)
VOLUME_RESIZED = register(
    "volume.resized", "The volume has grown, and is billed for its new size.", payload=projects.VolumeOf
)
VOLUME_DELETED = register("volume.deleted", "The data of the volume is gone.", payload=projects.VolumeOf)
SNAPSHOT_CREATED = register("snapshot.created", "A snapshot was requested.", payload=projects.SnapshotOf)
SNAPSHOT_AVAILABLE = register(
    "snapshot.available", "The snapshot is complete, and is billed.", payload=projects.SnapshotOf
)
SNAPSHOT_FAILED = register("snapshot.failed", "The site did not make the snapshot.", payload=projects.SnapshotFailed)
SNAPSHOT_UPDATED = register(
    "snapshot.updated", "The name or the tags of a snapshot changed.", payload=projects.SnapshotOf
)
SNAPSHOT_DELETED = register("snapshot.deleted", "The data of the snapshot is gone.", payload=projects.SnapshotOf)
ADDRESS_CREATED = register("address.created", "An address was requested.", payload=projects.AddressOf)
ADDRESS_AVAILABLE = register("address.available", "The address exists, and is billed.", payload=projects.AddressOf)
ADDRESS_FAILED = register("address.failed", "The site refused to reserve the address.", payload=projects.AddressFailed)
ADDRESS_UPDATED = register("address.updated", "The name or the tags of an address changed.", payload=projects.AddressOf)
ADDRESS_ATTACHED = register(
    "address.attached", "A Poplar server is reached through the address.", payload=projects.AddressAttachedTo
)
ADDRESS_DETACHED = register(
    "address.detached",
    "The Poplar server is no longer reached through the address.",
    payload=projects.AddressAttachedTo,
)
ADDRESS_DELETED = register("address.deleted", "The address was given back.", payload=projects.AddressOf)
TERMINAL_OPENED = register(
    "terminal.opened", "Somebody opened a terminal of a Poplar server in a browser.", payload=projects.TerminalOf
)
TERMINAL_CLOSED = register("terminal.closed", "A terminal of a Poplar server ended.", payload=projects.TerminalClosed)
TOKEN_CREATED = register("token.created", "A token was created.", payload=projects.TokenMade)
TOKEN_REVOKED = register("token.revoked", "A token was revoked.")
TOKEN_ROTATED = register("token.rotated", "A token was replaced with a new one.", payload=projects.TokenReplaced)
MEMBER_INVITED = register_members("member.invited", "A person was invited to become a member.", "invitation")
MEMBER_JOINED = register_members("member.joined", "A person accepted an invitation and is a member.", "member")
MEMBER_ROLE_CHANGED = register("member.role_changed", "A member has another role.", payload=projects.MemberRoleChanged)
MEMBER_REMOVED = register_members(
    "member.removed",
    "A member was removed, and their sessions and tokens ended.",
    "member",
    projects.MemberRemoved,
)
SSH_KEY_CREATED = register("ssh_key.created", "An SSH key was added to the project.")
SSH_KEY_DELETED = register("ssh_key.deleted", "An SSH key was deleted. Servers that already accept it still do.")
SSH_CERTIFICATE_ISSUED = register(
    "ssh_certificate.issued",
    "A person got an SSH certificate, which lets them log in to the servers of the cluster for a while.",
    "cluster",
    payload=projects.SshCertificateOf,
)
SSH_AUTHORITY_ROTATED = register(
    "ssh_authority.rotated",
    "The project's SSH authority was replaced; certificates of the former one end as servers learn of that.",
    payload=projects.SshAuthorityOf,
)
PROJECT_CREATED = register("project.created", "The project was created.")
PROJECT_UPDATED = register("project.updated", "The project's settings were changed.")
PROJECT_DELETED = register("project.deleted", "The project was deleted and its tokens were revoked.")
PROJECT_ACCOUNT_CHANGED = register_money(
    "project.account_changed",
    "Another billing account pays for the project from the next full hour on.",
    payload=money.AccountAssigned,
)
PROJECT_CHARGES_CORRECTED = register(
    "project.charges_corrected",
    "A past price was corrected, and the project's charges with it.",
    payload=money.ChargesCorrected,
)
QUOTA_REQUEST_OPENED = register(
    "quota_request.opened", "A higher quota was asked for.", payload=projects.QuotaRequested, operators=True
)
QUOTA_REQUEST_GRANTED = register(
    "quota_request.granted",
    "The quota was raised, to what was asked for or to less.",
    payload=projects.QuotaRequested,
    operators=True,
)
QUOTA_REQUEST_DECLINED = register(
    "quota_request.declined",
    "The operator declined the higher quota, and says why.",
    payload=projects.QuotaRequested,
    operators=True,
)
QUOTA_REQUEST_WITHDRAWN = register(
    "quota_request.withdrawn",
    "The project no longer asks for the higher quota.",
    payload=projects.QuotaRequested,
    operators=True,
)
RESERVATION_CREATED = register(
    "reservation.created", "Capacity was reserved; its machines are held.", payload=projects.ReservedCapacity
)
RESERVATION_ACTIVE = register(
    "reservation.active",
    "The reservation began: it is billed, and clusters can be created from it.",
    payload=projects.ReservedCapacity,
)
RESERVATION_ENDED = register(
    "reservation.ended",
    "The reservation's time is over. Its clusters go on, and are billed themselves.",
    payload=projects.ReservedCapacity,
)
RESERVATION_CANCELLED = register(
    "reservation.cancelled", "The reservation was cancelled before it began.", payload=projects.ReservedCapacity
)
QUOTA_UPDATED = register("quota.updated", "The project's quotas were replaced.", "project")
WEBHOOK_CREATED = register("webhook.created", "A webhook was created.", account=True)
WEBHOOK_UPDATED = register("webhook.updated", "The webhook's settings were changed.", account=True)
WEBHOOK_DELETED = register("webhook.deleted", "A webhook and its deliveries were deleted.", account=True)
WEBHOOK_SECRET_ROTATED = register("webhook.secret_rotated", "The webhook's secret was replaced.", account=True)
WEBHOOK_DISABLED = register(
    "webhook.disabled",
    "The webhook was disabled; no more messages are sent to it.",
    payload=projects.WebhookStopped,
    account=True,
)
