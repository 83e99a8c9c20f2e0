"""Events of a project or a billing account, and event types."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.event_types.names import AccountEventTypeName, EventTypeName, OperatorEventTypeName
from ipucloud.contract.fields import Answer, Shape
from ipucloud.contract.lists import Order, Page, Paged

EventActor = Annotated[
    str | None,
    Field(
        description="E-mail of the person, or name of the token, that caused it; null: the service itself did.",
        examples=["ann@example.com"],
    ),
]
EventAddress = Annotated[
    str | None,
    Field(
        description="IP address that the request came from. Null: no request caused it, the actor is of another project"
        " or account, or of the platform, or it happened before this was recorded.",
        examples=["192.0.2.7"],
    ),
]
EventAgent = Annotated[
    str | None,
    Field(
        description="Program that sent the request, as it says, cut after 200 characters; null like `address`, or it"
        " does not say.",
        examples=["ipucloud/0.1.0"],
    ),
]
EventRegion = Annotated[
    str | None,
    Field(
        description="Slug of the region of the subject; null: it has none, or it happened before this was recorded.",
        examples=["luxembourg-2"],
    ),
]


class EventOut(Answer):
    """One fact about an object."""

    id: str
    type: str = Field(examples=["cluster.created"])
    subject_type: str
    subject_id: UUID
    operation_id: UUID | None
    request_id: str | None
    actor: EventActor
    address: EventAddress
    agent: EventAgent
    region: EventRegion
    at: datetime
    data: Mapping[str, object]


class EventPage(Page[EventOut]):
    pass


class CloudEventOut(Answer):
    """An event in the JSON format of CloudEvents 1.0, where a null attribute is the same as none."""

    specversion: Literal["1.0"] = Field(description="Version of CloudEvents.")
    id: str = Field(description="Id of the event, unique within its source.", examples=["81234-5120"])
    source: str = Field(
        description="The project or account whose event it is, or the platform.",
        examples=["/v1/projects/0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b11"],
    )
    type: str = Field(description="`ipucloud.` and the type of the event.", examples=["ipucloud.cluster.created"])
    subject: str = Field(
        description="Kind and id of the object that it is about; without an id, the kind alone.",
        examples=["cluster/0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b11"],
    )
    time: datetime = Field(description="When it happened.")
    datacontenttype: Literal["application/json"] = Field(description="What `data` is.")
    actor: EventActor
    address: EventAddress
    agent: EventAgent
    region: EventRegion
    operationid: UUID | None = Field(description="The operation that it is part of; null: of none.", examples=[None])
    requestid: str | None = Field(description="The request that caused it; null: none did.")
    data: Mapping[str, object] = Field(
        description="`data` of the event.", examples=[{"region": "luxembourg-2", "flavor": "m2000-pod16"}]
    )


class CloudEventPage(Page[CloudEventOut]):
    pass


class OperatorEventOut(Answer):
    """One fact about the platform, or about a project's object that concerns its operators."""

    id: str = Field(description="Position in the log; events become visible in this order.", examples=["81234-5120"])
    type: str = Field(description="Type of the event.", examples=["freeze.started"])
    region: str | None = Field(description="Slug of the region; null: every one, or none.", examples=["luxembourg-2"])
    project: str | None = Field(description="Slug of the project; null: an event of the platform.", examples=[None])
    subject_type: str = Field(description="Kind of the object that it is about.", examples=["freeze"])
    subject_id: UUID | None = Field(
        description="Id of the object; null: the region, or something without an id, which `data` names."
    )
    subject_name: str | None = Field(
        description="Name of the cluster, machine or host; null for others.", examples=[None]
    )
    operation_id: UUID | None = Field(description="The operation that it is part of; null: of none.", examples=[None])
    request_id: str | None = Field(description="The request that caused it; null: none did.")
    actor: EventActor
    address: str | None = Field(
        description="IP address that the request came from; null: none caused it, or before that was recorded.",
        examples=["192.0.2.7"],
    )
    agent: str | None = Field(
        description="Program that sent the request, as it says; null like `address`, or it does not say.",
        examples=["ipucloud/0.1.0"],
    )
    at: datetime = Field(description="When it happened.")
    data: Mapping[str, object] = Field(
        description="What the type says more.", examples=[{"reason": "the site shows another rack"}]
    )


class OperatorEventPage(Page[OperatorEventOut]):
    pass


class OperatorEventList(Paged):
    """Events that match every filter."""

    order: Order = Field(Order.NEWEST_FIRST, description="Newest first (`-created_at`) or oldest first (`created_at`).")
    type: list[OperatorEventTypeName] = Field(
        default_factory=list, description="Only events of these types.", examples=[["freeze.started"]]
    )
    region: str | None = Field(
        None, description="Only events of this region, or of every region.", examples=["luxembourg-2"]
    )
    project: str | None = Field(None, description="Only events of this project, by slug.", examples=["research"])
    subject: UUID | None = Field(None, description="Only events about this object, by id.")
    after: str | None = Field(None, description="Only events after the one with this id. Cannot be used with `cursor`.")


class EventTypeOut(Answer):
    """A type of event. Its meaning never changes; its `data` may gain members."""

    type: str = Field(examples=["cluster.active"])
    meaning: str
    subject_types: list[str] = Field(description="Possible values of `subject_type`; empty: any.")
    data_schema: dict[str, Any] | None = Field(description="JSON Schema of `data`; null if `data` is empty.")


class EventTypePage(Page[EventTypeOut]):
    pass


class EventList(Paged):
    """Events that match every filter."""

    order: Order = Field(Order.NEWEST_FIRST, description="Newest first (`-created_at`) or oldest first (`created_at`).")
    type: list[EventTypeName] = Field(
        default_factory=list,
        description="Only events of these types.",
        examples=[["cluster.created"]],
    )
    subject: UUID | None = Field(None, description="Only events about this object, such as a cluster, by id.")
    after: str | None = Field(None, description="Only events after the one with this id. Cannot be used with `cursor`.")


class AccountEventList(Paged):
    """Events that match every filter."""

    order: Order = Field(Order.NEWEST_FIRST, description="Newest first (`-created_at`) or oldest first (`created_at`).")
    type: list[AccountEventTypeName] = Field(
        default_factory=list, description="Only events of these types.", examples=[["invoice.issued"]]
    )
    subject: UUID | None = Field(None, description="Only events about this object, such as an invoice, by id.")
    after: str | None = Field(None, description="Only events after the one with this id. Cannot be used with `cursor`.")


class EventStreamQuery(Shape):
    after: str | None = Field(
        None, description="Continue after the event with this id; without it, and without `Last-Event-ID`, from now on."
    )
    wait: float = Field(3600, ge=0, le=86_400, description="Seconds after which the stream ends, if it is up to date.")
