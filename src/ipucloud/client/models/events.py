"""What happened, in the order in which it became true."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field

from ipucloud.client.models.base import Answer


class Event(Answer):
    """One fact about `subject_type` `subject_id`."""

    id: str | int
    type: str
    subject_type: str | None = None
    subject_id: str | None = None
    operation_id: str | None = None
    request_id: str | None = None
    at: datetime | None = None
    data: Mapping[str, object] | None = Field(default=None)
