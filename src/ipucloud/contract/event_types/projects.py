"""Types of events about members, programs, volumes, addresses, reservations and what else a project has."""

from __future__ import annotations

from ipucloud.contract.event_payloads import money, projects
from ipucloud.contract.event_types.registry import register, register_members, register_money

JOB_QUEUED = register("job.queued", "A job was requested.", payload=projects.JobOf)
JOB_STARTED = register("job.started", "The job runs.", payload=projects.JobOf)
JOB_RETRIED = register("job.retried", "The job failed and is started again.", payload=projects.JobEnded)
JOB_SUCCEEDED = register("job.succeeded", "The job ended with exit status 0.", payload=projects.JobEnded)
JOB_FAILED = register("job.failed", "The job failed, was cut off, or did not start.", payload=projects.JobEnded)
JOB_STOPPED = register(
    "job.stopped", "The job was stopped by a request, a limit, or the end of its cluster.", payload=projects.JobEnded
)
SERVICE_CREATED = register("service.created", "A service was requested.", payload=projects.ServiceOf)
SERVICE_STARTED = register("service.started", "The program runs.", payload=projects.ServiceOf)
SERVICE_RESTARTED = register(
    "service.restarted",
    "The program ended and is started again.",
    payload=projects.ServiceEnded,
)
SERVICE_FAILED = register(
    "service.failed",
    "The program ended too often and is not started again.",
    payload=projects.ServiceEnded,
)
SERVICE_STOPPED = register(
    "service.stopped", "The service was stopped, alone or with its server or cluster.", payload=projects.ServiceEnded
)
register("volume.created", "A volume was requested.", payload=projects.VolumeOf)
register("volume.available", "The volume exists; billing starts.", payload=projects.VolumeOf)
register("volume.failed", "The site refused to make the volume.", payload=projects.VolumeFailed)
register("volume.updated", "Name or tags changed.", payload=projects.VolumeOf)
register("volume.attached", "A Poplar server has the volume.", payload=projects.VolumeAttachedTo)
register("volume.detached", "The Poplar server no longer has the volume.", payload=projects.VolumeAttachedTo)
register("volume.resized", "The volume has grown and is billed for its new size.", payload=projects.VolumeOf)
register("volume.deleted", "The volume's data is gone.", payload=projects.VolumeOf)
register("snapshot.created", "A snapshot was requested.", payload=projects.SnapshotOf)
register("snapshot.available", "The snapshot is complete; billing starts.", payload=projects.SnapshotOf)
register("snapshot.failed", "The site did not make the snapshot.", payload=projects.SnapshotFailed)
register("snapshot.updated", "Name or tags changed.", payload=projects.SnapshotOf)
register("snapshot.deleted", "The snapshot's data is gone.", payload=projects.SnapshotOf)
register("address.created", "An address was requested.", payload=projects.AddressOf)
register("address.available", "The address exists; billing starts.", payload=projects.AddressOf)
register("address.failed", "The site refused to reserve the address.", payload=projects.AddressFailed)
register("address.updated", "Name or tags changed.", payload=projects.AddressOf)
register("address.attached", "The address leads to a Poplar server.", payload=projects.AddressAttachedTo)
register(
    "address.detached",
    "The address no longer leads to a Poplar server.",
    payload=projects.AddressAttachedTo,
)
register("address.deleted", "The address was released.", payload=projects.AddressOf)
TERMINAL_OPENED = register(
    "terminal.opened", "A person opened a terminal of a server in a browser.", payload=projects.TerminalOf
)
TERMINAL_CLOSED = register("terminal.closed", "A terminal of a server ended.", payload=projects.TerminalClosed)
TOKEN_CREATED = register("token.created", "A token was created.", payload=projects.TokenMade)
TOKEN_REVOKED = register("token.revoked", "A token was revoked.")
TOKEN_ROTATED = register("token.rotated", "A token was replaced with a new one.", payload=projects.TokenReplaced)
MEMBER_INVITED = register_members("member.invited", "A person was invited.", "invitation")
MEMBER_JOINED = register_members("member.joined", "A person accepted an invitation.", "member")
MEMBER_SOURCES_CHANGED = register(
    "member.sources_changed", "A member may use the project from other networks.", payload=projects.MemberSources
)
MEMBER_ROLE_CHANGED = register("member.role_changed", "A member has another role.", payload=projects.MemberRoleChanged)
MEMBER_REMOVED = register_members(
    "member.removed",
    "A member was removed; their sessions and tokens ended.",
    "member",
    projects.MemberRemoved,
)
SSH_KEY_CREATED = register("ssh_key.created", "An SSH key was added to the project.")
SSH_KEY_DELETED = register("ssh_key.deleted", "An SSH key was deleted; servers that accept it still do.")
SSH_CERTIFICATE_ISSUED = register(
    "ssh_certificate.issued",
    "A person got an SSH certificate for the cluster's servers.",
    "cluster",
    payload=projects.SshCertificateOf,
)
SSH_AUTHORITY_ROTATED = register(
    "ssh_authority.rotated",
    "The project has a new SSH authority; servers stop accepting certificates of the former one.",
    payload=projects.SshAuthorityOf,
)
PROJECT_CREATED = register("project.created", "The project was created.")
PROJECT_UPDATED = register("project.updated", "The project's settings changed.")
PROJECT_DELETED = register("project.deleted", "The project was deleted and its tokens revoked.")
PROJECT_ACCOUNT_CHANGED = register_money(
    "project.account_changed",
    "Another account pays from the next full hour on.",
    payload=money.AccountAssigned,
)
PROJECT_CHARGES_CORRECTED = register(
    "project.charges_corrected",
    "A past price was corrected, and the project's charges with it.",
    payload=money.ChargesCorrected,
)
QUOTA_REQUEST_OPENED = register(
    "quota_request.opened", "A higher quota was requested.", payload=projects.QuotaRequested, operators=True
)
QUOTA_REQUEST_GRANTED = register(
    "quota_request.granted",
    "The operator granted the request, or part of it.",
    payload=projects.QuotaRequested,
    operators=True,
)
QUOTA_REQUEST_DECLINED = register(
    "quota_request.declined",
    "The operator declined the request.",
    payload=projects.QuotaRequested,
    operators=True,
)
QUOTA_REQUEST_WITHDRAWN = register(
    "quota_request.withdrawn",
    "The request was withdrawn.",
    payload=projects.QuotaRequested,
    operators=True,
)
RESERVATION_CREATED = register("reservation.created", "Capacity was reserved.", payload=projects.ReservedCapacity)
RESERVATION_ACTIVE = register(
    "reservation.active",
    "The reservation began; billing starts.",
    payload=projects.ReservedCapacity,
)
RESERVATION_ENDED = register(
    "reservation.ended",
    "The reservation ended; its clusters go on and are billed themselves.",
    payload=projects.ReservedCapacity,
)
RESERVATION_CANCELLED = register(
    "reservation.cancelled", "The reservation was cancelled before it began.", payload=projects.ReservedCapacity
)
QUOTA_UPDATED = register("quota.updated", "The project's quotas were replaced.", "project")
WEBHOOK_CREATED = register("webhook.created", "A webhook was created.", account=True)
WEBHOOK_UPDATED = register("webhook.updated", "The webhook's settings changed.", account=True)
WEBHOOK_DELETED = register("webhook.deleted", "A webhook and its deliveries were deleted.", account=True)
WEBHOOK_SECRET_ROTATED = register("webhook.secret_rotated", "The webhook's secret was replaced.", account=True)
WEBHOOK_DISABLED = register(
    "webhook.disabled",
    "The webhook gets no more messages.",
    payload=projects.WebhookStopped,
    account=True,
)
