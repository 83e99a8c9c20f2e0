"""The `data` of events about members, programs, volumes, addresses, reservations and what else a project has."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.event_payloads.base import Late, Payload
from ipucloud.contract.jobs import JobEndedBy
from ipucloud.contract.poplar_servers import TerminalEnd
from ipucloud.contract.services import ServiceEndedBy


class MemberOf(Payload):
    """Who it is about."""

    email: str = Field(description="E-mail of the person.", examples=["ann@example.com"])
    role: str = Field(description="Role of the person.", examples=["operator"])


class MemberRemoved(MemberOf):
    """Who is no longer a member."""

    reason: str | None = Field(
        None,
        description="Why, for people; absent or null: a request removed or deactivated the person.",
        examples=["The person has shown for the first time that the e-mail is theirs."],
    )


class MemberRoleChanged(MemberOf):
    """Who has another role."""

    previous: str = Field(description="Role that the person had.", examples=["viewer"])


class MemberSources(MemberOf):
    """Who may use the project from where."""

    allowed_sources: list[str] = Field(
        description="The networks; empty: from everywhere.", examples=[["203.0.113.0/24"]]
    )


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


class QuotaRequested(Payload):
    """A higher quota that was asked for, and the operator's decision."""

    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    machine_type: str = Field(
        description="Type of the machines; `volume-gib`: volumes and snapshots; `address`: addresses.",
        examples=["m2000"],
    )
    limit: int = Field(
        description="How many machines, GiB or addresses the project wants to be able to hold.", examples=[128]
    )
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


class SnapshotOf(Payload):
    """A snapshot."""

    name: str = Field(description="Name of the snapshot.", examples=["before-tuning"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    volume: UUID | None = Field(
        None,
        description="Id of the volume that it is a copy of; absent or null: it is of a server.",
        examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b91"],
    )
    cluster: UUID | None = Field(
        None, description="Id of the cluster whose server's disk it is a copy of; absent or null: it is of a volume."
    )
    poplar_server: str | None = Field(None, description="Name of that server; absent or null: none.")
    size_gib: int | None = Field(
        None, description="Size in GiB; absent or null: that of a server's disk is not known yet.", examples=[100]
    )


class SnapshotFailed(SnapshotOf):
    """A snapshot that could not be taken, and why."""

    reason: str = Field(description="Why, for people.", examples=["The site refused to take it. Delete it."])


class AddressOf(Payload):
    """An address."""

    name: str = Field(description="Name of the address.", examples=["frontdoor"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    ip: str | None = Field(
        None, description="The IP address; absent or null: not observed yet.", examples=["203.0.113.17"]
    )


class AddressAttachedTo(AddressOf):
    """An address, and the Poplar server that has it, or had it."""

    cluster: UUID = Field(description="Id of the cluster.")
    poplar_server: str = Field(description="Name of the Poplar server.", examples=["bert-p0"])


class AddressFailed(AddressOf):
    """An address that could not be reserved, and why."""

    reason: str = Field(description="Why, for people.", examples=["The site refused to reserve it. Delete it."])


class ReservedCapacity(Payload):
    """A reservation."""

    name: str = Field(description="Name of the reservation.", examples=["may-training"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    flavor: str = Field(description="Name of the flavor of its clusters.", examples=["m2000-pod64"])
    count: int = Field(description="How many clusters of the flavor it has room for.", examples=[2])
    starts_at: datetime = Field(description="When it begins.", examples=["2026-05-11T08:00:00Z"])
    ends_at: datetime = Field(description="When it ends.", examples=["2026-05-13T08:00:00Z"])


class OperationOf(Payload):
    """The operation's kind, and its partition if it changes one."""

    kind: str = Field(description="The operation's kind.", examples=["cluster.create"])
    partition: UUID | None = Field(None, description="Id of the partition that it changes; absent or null for others.")
    late: Late = False


class TokenMade(Payload):
    """A new token, and what it may do."""

    name: str = Field(description="Name of the token.", examples=["ci"])
    role: str = Field(description="Role of the token.", examples=["operator"])
    scopes: list[str] | None = Field(
        None,
        description="Scopes that it is narrowed to; null or absent: all of its role.",
        examples=[["cluster:read", "job:read"]],
    )
    allowed_sources: list[str] = Field(
        default_factory=list,
        description="Networks from which it may be used; empty or absent: from everywhere.",
        examples=[["203.0.113.0/24"]],
    )
    clusters: list[UUID] | None = Field(
        None, description="Clusters that it is limited to; null or absent: it is not limited.", examples=[None]
    )


class TokenReplaced(Payload):
    """The replacement of a token."""

    replaced_by: UUID = Field(description="The new token.")


class WebhookStopped(Payload):
    """Why a webhook is disabled."""

    reason: Literal["by_owner", "gone", "failing"] = Field(
        description="Its owner disabled it, it answered 410, or it failed for three days."
    )
