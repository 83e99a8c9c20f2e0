"""Webhooks and what was sent to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import Field

from ipucloud.client.models.base import Answer


class Webhook(Answer):
    """An end-point that is told what happens. `secret` is there only when it was just made, and not in a replay."""

    id: str
    url: str
    event_types: Sequence[str] = ()
    description: str = ""
    enabled: bool
    disabled: str | None = None
    failing_since: datetime | None = None
    created_at: datetime
    secret: str | None = Field(default=None, repr=False)


class Try(Answer):
    at: datetime
    status: int | None = None
    failure: str | None = None
    seconds: float = 0.0


class Delivery(Answer):
    """A message, and what came of it."""

    id: str
    message_id: str
    type: str
    event: str | None = None
    state: str
    next_try_at: datetime | None = None
    delivered_at: datetime | None = None
    created_at: datetime
    payload: Mapping[str, object] = Field(default_factory=dict)
    tries: Sequence[Try] = ()
