"""Faults that customers report: what they say, and what the operator answers."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Line, Lines
from ipucloud.contract.lists import Listed, Page, Paged

FaultCategory = Literal["ipu", "link", "server", "disk", "network", "performance", "other"]
ConfirmedCode = Literal["bmc_critical", "link_down", "host_failed"]


class FaultReportState(StrEnum):
    """State of a fault report; it never leaves `dismissed`, `repaired` and `closed`."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"
    REPAIRED = "repaired"
    CLOSED = "closed"


_STATE = (
    "`open`: the operator has not answered; `confirmed`: the fault was found, and a health report says so; `dismissed`:"
    " it was not; `repaired`: the hardware was replaced or works again; `closed`: it was confirmed, and the cluster was"
    " deleted, or suspended without the hardware, before that"
)


class FaultReportCreate(Body):
    """What does not work."""

    description: Lines = Field(
        description="What happens, for the operator: what was run, what was expected.",
        examples=["IPU 3 hangs in every run since this morning; the other three work."],
    )
    category: FaultCategory = Field("other", description="What seems to be affected.", examples=["ipu"])
    since: Instant | None = Field(
        None,
        description="When it was first noticed; not in the future. Only for the operator: it credits nothing.",
        examples=["2026-05-04T09:30:00Z"],
    )


class FaultReportOut(Answer):
    """A fault that was reported to the operator."""

    id: UUID = Field(description="Id of the fault report.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b61"])
    state: FaultReportState = Field(description=f"Present state. {_STATE}.", examples=["confirmed"])
    cluster: UUID = Field(description="Id of the cluster.")
    kind: Literal["machine", "poplar_server"] = Field(description="What is affected.", examples=["machine"])
    name: str = Field(description="Name of the machine or Poplar server.", examples=["lux2-p001-m01"])
    category: FaultCategory = Field(description="What seems to be affected.", examples=["ipu"])
    description: str = Field(
        description="What happens, in the words of who reported it.",
        examples=["IPU 3 hangs in every run since this morning; the other three work."],
    )
    since: datetime | None = Field(
        description="When it was first noticed, as reported; null: not said.", examples=["2026-05-04T09:30:00Z"]
    )
    created_by: UUID = Field(
        description="Id of the token that reported it.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    created_at: datetime = Field(description="When it was reported.")
    answer: str | None = Field(
        description="The operator's answer; null before there is one.", examples=["The tile memory has errors."]
    )
    answered_at: datetime | None = Field(
        description="When it was confirmed or dismissed; null before that.", examples=["2026-05-04T11:20:00Z"]
    )
    report_id: UUID | None = Field(
        description="Id of the health report that follows from it, which bills cite; null if it was not confirmed.",
        examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b62"],
    )
    repaired_at: datetime | None = Field(description="When it was repaired; null before that.", examples=[None])
    closed_at: datetime | None = Field(
        description="When it was closed: the cluster was deleted or suspended before the repair. Null otherwise.",
        examples=[None],
    )


class FaultReportPage(Page[FaultReportOut]):
    pass


class FaultReportList(Listed):
    """Fault reports that match every filter."""

    cluster: UUID | None = Field(None, description="Only those about hardware of this cluster, by id.")
    state: list[FaultReportState] = Field(default_factory=list, description="Only those in these states.")


class OperatorFaultReportOut(FaultReportOut):
    """A fault that a customer reported, as operators see it."""

    project: str = Field(description="Slug of the project.")
    cluster_name: str = Field(description="Name of the cluster.", examples=["bert"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    hardware: str = Field(
        description="Name of the machine, or of the host of the Poplar server.", examples=["lux2-p001-m01"]
    )
    held: bool = Field(description="Whether the cluster still holds the hardware.")
    answered_by: UUID | None = Field(
        description="Id of the operator's token; null before there is an answer.",
        examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b15"],
    )


class OperatorFaultReportPage(Page[OperatorFaultReportOut]):
    pass


class OperatorFaultReportList(Paged):
    """Fault reports of every project that match every filter, oldest first."""

    state: FaultReportState | None = Field(None, description="Only those in this state.")
    region: str | None = Field(None, description="Only those of this region.", examples=["luxembourg-2"])
    project: str | None = Field(None, description="Only those of this project, by slug.")
    cluster: UUID | None = Field(None, description="Only those of this cluster, by id.")
    hardware: str | None = Field(None, description="Only those about this machine or host, by name.")


class FaultReportConfirm(Body):
    """What an operator found."""

    answer: Line = Field(description="What was found; its customer reads it.", examples=["The tile memory has errors."])
    code: ConfirmedCode | None = Field(
        None,
        description="Code of the health report: `bmc_critical` or `link_down` of a machine, `host_failed` of a host;"
        " null: `bmc_critical` or `host_failed`.",
        examples=["link_down"],
    )
    observed_at: Instant | None = Field(
        None,
        description="When the operator's evidence, such as a BMC log, first shows the fault: the credit begins then;"
        " null: now.",
        examples=["2026-05-04T10:05:00Z"],
    )


class FaultReportDismiss(Body):
    """Why nothing follows from a fault report."""

    reason: Line = Field(
        description="Why; its customer reads it.", examples=["Every test passes; your program waits for host 2."]
    )
