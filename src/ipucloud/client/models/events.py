"""What happened, in the order in which it became visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import Field

from ipucloud.client.models.base import Answer


class Event(Answer):
    """One fact about the subject."""

    id: str
    type: str
    subject_type: str
    subject_id: str
    operation_id: str | None = None
    request_id: str | None = None
    at: datetime
    data: Mapping[str, object] = Field(default_factory=dict)


class EventType(Answer):
    """A type of event; `data_schema` is the JSON Schema of its `data`, None when that is empty."""

    type: str
    meaning: str
    subject_types: Sequence[str] = ()
    data_schema: Mapping[str, object] | None = None
