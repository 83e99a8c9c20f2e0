"""The audit log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer
from ipucloud.contract.lists import Listed, Page


class AuditEntryOut(Answer):
    """One request: who asked for what, from where, with which result."""

    id: UUID = Field(description="Id of the entry.")
    operation: str = Field(description="Operation of the API.", examples=["createCluster"])
    method: str = Field(description="HTTP method; `CONNECT` for a terminal.", examples=["POST"])
    project_id: UUID | None = Field(description="Id of the project; null: of none that the caller has access to.")
    account_id: UUID | None = Field(description="Id of a payer's billing account; null for others.", examples=[None])
    token_id: UUID | None = Field(description="Id of the token, or of the membership; null: nobody was signed in.")
    actor: str | None = Field(
        description="E-mail of the person, or name of the token; null: nobody was signed in.",
        examples=["ann@example.com"],
    )
    address: str = Field(description="Address that the request came from.", examples=["192.0.2.7"])
    agent: str = Field(description="Program that sent it, as it says.", examples=["ipucloud/0.1.0"])
    request_id: str = Field(description="Id of the request.")
    at: datetime = Field(description="When it began.")
    completed_at: datetime | None = Field(description="When it ended, or was given up; null: it is being served.")
    status: int | None = Field(description="HTTP status; null: it is being served, or was abandoned.", examples=[202])
    code: str | None = Field(description="Code of the problem; null: none.", examples=[None])
    objects: Mapping[str, str] = Field(
        description="Ids that the request concerned.", examples=[{"cluster_id": "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b11"}]
    )
    state: str = Field(
        description="`open`, `completed`, or `abandoned`: its process ended, and the outcome is unknown.",
        examples=["completed"],
    )
    seq: int | None = Field(description="Place in the chain of hashes; null: not sealed yet.", examples=[4711])
    hash: str | None = Field(description="SHA-256 of the previous hash and this entry; null: not sealed yet.")


class AuditEntryPage(Page[AuditEntryOut]):
    pass


class AuditLogList(Listed):
    """Entries that match every filter."""

    actor: str | None = Field(
        None, description="Only of this person, by e-mail, or token, by name.", examples=["ann@example.com"]
    )
    operation: str | None = Field(None, description="Only of this operation.", examples=["deleteCluster"])
    writes: bool = Field(False, description="Only writes, without the reads of tokens and money.", examples=[True])


class OperatorAuditLogList(AuditLogList):
    """Entries that match every filter."""

    project: str | None = Field(None, description="Only of this project, by slug.", examples=["research"])
