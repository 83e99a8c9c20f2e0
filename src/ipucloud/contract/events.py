"""Events of a project, and event types."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from ipucloud.contract.event_types import EventTypeName
from ipucloud.contract.fields import Answer
from ipucloud.contract.lists import Order, Page, Paged


class EventOut(Answer):
    """One fact about an object."""

    id: str
    type: str = Field(examples=["cluster.created"])
    subject_type: str
    subject_id: UUID
    operation_id: UUID | None
    request_id: str | None
    at: datetime
    data: Mapping[str, object]


class EventPage(Page[EventOut]):
    pass


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
        description="Only events of these types; `noun.*` for all types of a noun.",
        examples=[["cluster.created"]],
    )
    subject: UUID | None = Field(None, description="Only events about this object, such as a cluster, by id.")
    after: str | None = Field(None, description="Only events after the one with this id. Cannot be used with `cursor`.")
