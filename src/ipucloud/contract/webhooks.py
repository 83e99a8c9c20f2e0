"""Webhooks, their deliveries, and what they are sent."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.event_types import EventTypePattern
from ipucloud.contract.fields import Answer, Body
from ipucloud.contract.lists import Listed, Page

LONGEST_URL = 2048


class DeliveryState(StrEnum):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Disabled(StrEnum):
    """Why an end-point gets nothing: its owner said so, it answered 410, or it failed for days."""

    BY_OWNER = "by_owner"
    GONE = "gone"
    FAILING = "failing"


class Failure(StrEnum):
    """How a try ended, in words that tell nothing of our network."""

    STATUS = "status"
    REDIRECT = "redirect"
    GONE = "gone"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    REFUSED_ADDRESS = "refused_address"
    TLS = "tls"


EventTypes = Annotated[list[EventTypePattern], Field(max_length=64)]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL, examples=["https://hooks.example.com/ipucloud"])]
Description = Annotated[str, Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")]


class WebhookCreate(Body):
    """An end-point to be told at."""

    url: Url = Field(description="HTTPS, port 443 or 8443, at a public address")
    event_types: EventTypes = Field(default_factory=list, description="types, or all of a noun; empty: everything")
    description: Description = ""


class WebhookPatch(Body):
    """Fields left out stay as they are. `enabled` true after it was disabled: events from then on are sent."""

    url: Url | None = None
    event_types: EventTypes | None = None
    description: Description | None = None
    enabled: bool | None = None


class WebhookOut(Answer):
    """An end-point, without its secret."""

    id: UUID
    url: str
    event_types: list[str]
    description: str
    enabled: bool
    disabled: Disabled | None = Field(description="why: its owner, it answered 410, it failed for three days")
    disabled_at: datetime | None
    failing_since: datetime | None = Field(description="null: the last try succeeded, or there was none")
    previous_secret_until: datetime | None = Field(description="until then messages carry two signatures")
    created_at: datetime
    version: int


class NewWebhookOut(WebhookOut):
    """An end-point just made, or with a new secret."""

    secret: str | None = Field(description="signs its messages; shown this once, null in a replay of the answer")


class WebhookPage(Page[WebhookOut]):
    pass


class TryOut(Answer):
    at: datetime
    status: int | None = Field(description="HTTP status; null: there was no answer")
    failure: Failure | None = Field(description="null: it was taken")
    seconds: float


class DeliveryOut(Answer):
    """A message, and what came of it."""

    id: UUID
    message_id: str = Field(description="the `webhook-id` header, the same at every try", examples=["msg_0193…"])
    type: str
    event: str | None = Field(description="the event's id; null: a ping")
    state: DeliveryState
    next_try_at: datetime | None
    delivered_at: datetime | None
    created_at: datetime
    payload: dict[str, object]
    tries: list[TryOut]


class DeliveryPage(Page[DeliveryOut]):
    pass


OnlyState = Literal["pending", "delivered", "failed"]


class DeliveryList(Listed):
    """Deliveries of one webhook."""

    state: OnlyState | None = Field(None, description="only those in this state")


class MessageData(Answer):
    """The event that a message tells of."""

    id: str = Field(description="the event's place in the log, as in the list of events")
    project_id: UUID
    subject_type: str
    subject_id: UUID
    operation_id: UUID | None
    request_id: str | None
    data: dict[str, object]


class Message(Answer):
    """What a webhook is sent of an event, as the Standard Webhooks specification has it."""

    type: str
    timestamp: datetime
    data: MessageData


class PingData(Answer):
    webhook_id: UUID


class Ping(Answer):
    """What a webhook is sent on `:ping`. It is not an event."""

    type: Literal["webhook.ping"]
    timestamp: datetime
    data: PingData


class KeepSecret(Body):
    """How to replace a secret."""

    keep_previous_seconds: int = Field(
        86_400, ge=0, le=604_800, description="for so long messages are signed by the secret before, too"
    )
