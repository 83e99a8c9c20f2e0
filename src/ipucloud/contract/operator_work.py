"""What operators see of the work: what is stuck, work items, the object behind an id, everything of one request."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.events import EventOut
from ipucloud.contract.fields import Answer, Body, Line, figure
from ipucloud.contract.lists import Listed, Page, Paged
from ipucloud.contract.operations import OperationOut, OperationState, OperationSummaryOut

WORK_STATES = "`due`, `leased` by a worker, `resting` until later or a wake, or `parked`"


class WorkItemOut(Answer):
    """An object that a worker reconciles when it is due. Times are the database's."""

    kind: str = Field(description="Kind of the work item.", examples=["cluster"])
    key: str = Field(description="Key of the work item: the id of its object, or the name of a periodic task.")
    project: str | None = Field(description="Slug of the project; null: work of the platform.")
    state: Literal["due", "leased", "resting", "parked"] = Field(description=f"Present state: {WORK_STATES}.")
    run_at: datetime | None = Field(description="When it is due; null: only a wake makes it due.")
    lease_until: datetime | None = Field(description="When the lease of the worker that reconciles it ends.")
    attempt: int = figure("recorded", None, "Passes since the last progress.", examples=[0])
    parked_at: datetime | None = Field(description="When it was parked; null if it is not.")
    last_error: str | None = Field(
        description="How the last pass failed, with file and line; null if it did not.",
        examples=["5 reconcile passes without progress (reconciler.py:75)"],
    )


class WorkItemPage(Page[WorkItemOut]):
    pass


class WorkItemList(Paged):
    """Work items that match every filter, by kind and key."""

    kind: str | None = Field(None, description="Only work items of this kind.", examples=["cluster"])
    state: Literal["due", "leased", "resting", "parked"] | None = Field(
        None, description=f"Only those in this state: {WORK_STATES}."
    )


class OperatorOperationOut(OperationSummaryOut):
    """An operation of any project or billing account, without its steps."""

    project: str | None = Field(description="Slug of the project; null: of a billing account.")
    account: UUID | None = Field(description="Id of the billing account; null: of a project.", examples=[None])
    region: str | None = Field(description="Slug of the cluster's region; null for an export.", examples=["lab-1"])
    name: str | None = Field(description="Name of the cluster; null for an export.", examples=["bert"])
    forced_reason: str | None = Field(description="Why an operator forced it; null if none did.", examples=[None])


class OperatorOperationPage(Page[OperatorOperationOut]):
    pass


class OperatorOperationList(Listed):
    """Operations that match every filter."""

    state: list[OperationState] = Field(default_factory=list, description="Only those in one of these states.")
    kind: str | None = Field(None, description="Only operations of this kind.", examples=["cluster.delete"])
    project: str | None = Field(None, description="Only those of this project, by slug.", examples=["research"])
    cluster: UUID | None = Field(None, description="Only those of this cluster, by id.")
    region: str | None = Field(None, description="Only those of clusters in this region.", examples=["luxembourg-2"])


class StuckOut(Answer):
    """Something that takes longer than usual, or that no worker will continue."""

    object: Literal["operation", "cluster", "work_item"] = Field(description="What is stuck.")
    id: str = Field(description="Id of the operation or cluster; `kind/key` of a work item.")
    kind: str = Field(
        description="Kind of operation or work item; the state of a cluster.", examples=["cluster.delete"]
    )
    project: str | None = Field(description="Slug of the project; null: work of the platform.")
    cluster: UUID | None = Field(description="Id of the cluster; null if it is about none.")
    name: str | None = Field(description="Name of the cluster; null if it is about none.", examples=["bert"])
    region: str | None = Field(description="Slug of the region; null if it is about none.", examples=["luxembourg-2"])
    since: datetime = Field(description="Since when it has been in its state, or was requested.")
    sla_seconds: int | None = figure("recorded", "since", "How long it usually takes, in seconds.", examples=[240])
    over_seconds: int = figure(
        "computed",
        "as_of",
        "Seconds since it should have ended, on the database's clock.",
        examples=[600],
    )
    step: str | None = Field(description="Current step of the operation.", examples=["wipe_poplar_servers"])
    blocked_by: str | None = Field(
        description="What it waits for; for a parked work item its last error.", examples=["wiping host lux2-h004"]
    )
    remedy: str = Field(
        description="What to do.", examples=["The step waits for the site: check what blocked_by names."]
    )
    as_of: datetime = Field(description="Time of reading, on the database's clock.")


class StuckPage(Page[StuckOut]):
    pass


class StuckList(Paged):
    region: str | None = Field(None, description="Only what is about clusters in this region.", examples=["lab-1"])


class WhatIsOut(Answer):
    """What an id or name of this service is."""

    kind: str = Field(description="Kind of object.", examples=["cluster"])
    id: str
    project: str | None = Field(description="Slug of the project; null: an object of the platform.")
    name: str | None = Field(description="Name; null if it has none.", examples=["bert"])
    state: str | None = Field(description="Present state; null if it has none.", examples=["active"])
    created_at: datetime | None = Field(description="When it was created; null if that is not recorded.")
    commands: list[str] = Field(
        description="Commands that show more of it.", examples=[["ipucloud clusters show bert --project research"]]
    )


class WhatIsPage(Page[WhatIsOut]):
    """Every object with this id or name."""


class LogHintOut(Answer):
    """Where the rest is: processes log one JSON object per line."""

    field: str = Field(description="Field of a log line.", examples=["request_id"])
    value: str = Field(description="Its value.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b80"])
    processes: list[str] = Field(description="Processes whose logs have such lines.", examples=[["api", "worker"]])


class RequestTraceOut(Answer):
    """Everything that the database knows of one request. Lists have the oldest 1,000 of each."""

    request_id: str
    as_of: datetime = Field(description="Time of reading, on the database's clock.")
    operations: list[OperationOut] = Field(description="Operations that the request started, with their steps.")
    events: list[EventOut] = Field(description="Events of the request and of these operations, oldest first.")
    work_items: list[WorkItemOut] = Field(description="Work items that carry the operations out.")
    logs: list[LogHintOut] = Field(description="Where the rest is.")


class WorkItemPark(Body):
    """Why a work item is set aside."""

    reason: Line = Field(description="Why, for whoever finds it parked.", examples=["site upgrade until noon"])
