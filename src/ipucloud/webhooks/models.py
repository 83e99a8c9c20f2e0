"""The bodies of the API that concern webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from ipucloud.events.patterns import EventTypePattern
from ipucloud.webhooks.schedule import DeliveryState, Disabled, Failure
from ipucloud.webhooks.urls import LONGEST

EventTypes = Annotated[list[EventTypePattern], Field(max_length=64)]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST, examples=["https://hooks.example.com/ipucloud"])]
Description = Annotated[str, Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class WebhookCreate(_Body):
    """An end-point to be told at."""

    url: Url = Field(description="HTTPS, port 443 or 8443, at a public address")
    event_types: EventTypes = Field(default_factory=list, description="types, or all of a noun; empty: everything")
    description: Description = ""


class WebhookPatch(_Body):
    """Fields left out stay as they are. `enabled` true after it was disabled: events from then on are sent."""

    url: Url | None = None
    event_types: EventTypes | None = None
    description: Description | None = None
    enabled: bool | None = None


class WebhookOut(BaseModel):
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


class TryOut(BaseModel):
    at: datetime
    status: int | None = Field(description="HTTP status; null: there was no answer")
    failure: Failure | None = Field(description="null: it was taken")
    seconds: float


class DeliveryOut(BaseModel):
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


class MessageData(BaseModel):
    """The event that a message tells of."""

    id: str = Field(description="the event's place in the log, as in the list of events")
    project_id: UUID
    subject_type: str
    subject_id: UUID
    operation_id: UUID | None
    request_id: str | None
    data: dict[str, object]


class Message(BaseModel):
    """What a webhook is sent of an event, as the Standard Webhooks specification has it."""

    type: str
    timestamp: datetime
    data: MessageData


class PingData(BaseModel):
    webhook_id: UUID


class Ping(BaseModel):
    """What a webhook is sent on `:ping`. It is not an event."""

    type: Literal["webhook.ping"]
    timestamp: datetime
    data: PingData


class KeepSecret(_Body):
    """How to replace a secret."""

    keep_previous_seconds: int = Field(
        86_400, ge=0, le=604_800, description="for so long messages are signed by the secret before, too"
    )


OnlyState = Literal["pending", "delivered", "failed"]
