"""Webhooks, deliveries and messages."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.event_types.names import AccountEventTypePattern, EventTypePattern
from ipucloud.contract.events import EventActor, EventAddress, EventAgent, EventRegion
from ipucloud.contract.fields import Answer, Body, secret
from ipucloud.contract.lists import Listed, Page

LONGEST_URL = 2048


class DeliveryState(StrEnum):
    """Whether the message has arrived: `pending` is tried again, `failed` is not."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Disabled(StrEnum):
    """Why a webhook is disabled: by its owner, after a 410 response, or after days of failures."""

    BY_OWNER = "by_owner"
    GONE = "gone"
    FAILING = "failing"


class Failure(StrEnum):
    """How an attempt failed; reveals nothing about the sender's network."""

    STATUS = "status"
    REDIRECT = "redirect"
    GONE = "gone"
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    REFUSED_ADDRESS = "refused_address"
    TLS = "tls"


EventTypes = Annotated[list[EventTypePattern], Field(max_length=64)]
AccountEventTypes = Annotated[list[AccountEventTypePattern], Field(max_length=64)]
Url = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_URL,
        description="HTTPS URL at a public address, on port 443 or 8443. Its query is stored encrypted and shown"
        " without its values.",
        examples=["https://hooks.example.com/ipucloud"],
        json_schema_extra=secret("query"),
    ),
]
Description = Annotated[str, Field(max_length=256, pattern=r"^[^\x00-\x1f\x7f]*$")]


class WebhookCreate(Body):
    """An endpoint for events."""

    url: Url
    event_types: EventTypes = Field(
        default_factory=list, description="Event types, or `noun.*` for all types of a noun; empty: all types."
    )
    description: Description = ""


class WebhookPatch(Body):
    """Omitted fields stay unchanged. Setting `enabled` to true sends events from then on."""

    url: Url | None = Field(None, description="New URL; the present one, as it is shown, changes nothing.")
    event_types: EventTypes | None = None
    description: Description | None = None
    enabled: bool | None = None


class AccountWebhookCreate(WebhookCreate):
    """An endpoint for the events of a billing account."""

    event_types: AccountEventTypes = Field(
        default_factory=list, description="Event types, or `noun.*` for all types of a noun; empty: all types."
    )


class AccountWebhookPatch(WebhookPatch):
    """Omitted fields stay unchanged. Setting `enabled` to true sends events from then on."""

    event_types: AccountEventTypes | None = None


class WebhookOut(Answer):
    """A webhook without its secret."""

    id: UUID
    url: str = Field(
        description="The URL; in place of each value of its query `***`.",
        examples=["https://hooks.example.com/ipucloud?token=***"],
    )
    event_types: list[str]
    description: str
    enabled: bool
    disabled: Disabled | None = Field(description="Why it is disabled; null if it is enabled.")
    disabled_at: datetime | None
    failing_since: datetime | None = Field(
        description="Time of the first of the present failures; null if the last attempt succeeded or there was none."
    )
    previous_secret_until: datetime | None = Field(
        description="Until when messages carry two signatures; null if they carry one."
    )
    created_at: datetime
    version: int


class NewWebhookOut(WebhookOut):
    """A webhook with its new secret."""

    secret: str | None = Field(
        description="Secret that signs the messages, shown only once; null in a replayed response."
    )


class WebhookPage(Page[WebhookOut]):
    pass


class WebhookList(Listed):
    """Webhooks that match the filter."""

    enabled: bool | None = Field(
        None, description="Only those that messages are sent to, or only disabled ones; null: all."
    )


class TryOut(Answer):
    """One attempt to deliver a message."""

    at: datetime
    status: int | None = Field(description="HTTP status of the response; null if there was none.")
    failure: Failure | None = Field(description="How the attempt failed; null if it succeeded.")
    seconds: float


class DeliveryOut(Answer):
    """A message and its delivery attempts."""

    id: UUID
    message_id: str = Field(
        description="Value of the header `webhook-id`, the same for every attempt.", examples=["msg_0193…"]
    )
    type: str
    event: str | None = Field(description="Id of the event; null for a ping.")
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

    state: OnlyState | None = Field(None, description="Only those in this state.")


class MessageData(Answer):
    """The event of a message."""

    id: str = Field(description="Id of the event, as in the list of events.")
    project_id: UUID | None = Field(description="The project whose event it is; null: a billing account's.")
    account_id: UUID | None = Field(description="The billing account whose event it is; null: a project's.")
    subject_type: str
    subject_id: UUID
    operation_id: UUID | None
    request_id: str | None
    actor: EventActor
    address: EventAddress
    agent: EventAgent
    region: EventRegion
    data: dict[str, object]


class Message(Answer):
    """The message for an event, as defined by the Standard Webhooks specification."""

    type: str
    timestamp: datetime
    data: MessageData


class PingData(Answer):
    """The webhook that the ping was requested for."""

    webhook_id: UUID


class Ping(Answer):
    """The message for `:ping`. It is not an event."""

    type: Literal["webhook.ping"]
    timestamp: datetime
    data: PingData


class KeepSecret(Body):
    """How to replace a secret."""

    keep_previous_seconds: int = Field(
        86_400, ge=0, le=604_800, description="How long messages are also signed with the previous secret, in seconds."
    )
