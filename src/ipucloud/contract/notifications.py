"""E-mails of events that a person chooses."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.event_types.names import EventTypePattern
from ipucloud.contract.fields import Answer, Body

MAX_SUBSCRIPTIONS = 100
Language = Literal["en", "de"]


class MailState(StrEnum):
    """`pending` is tried again; `failed` is not, and `dropped` was no longer wanted before it was sent."""

    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


class SubscriptionOut(Answer):
    """Events of a project that a person gets by e-mail."""

    project_id: UUID = Field(description="Id of the project.")
    project: str = Field(description="Slug of the project.", examples=["research"])
    event_types: list[str] = Field(
        description="Types, or all types of a noun.", examples=[["operation.failed", "budget.*"]]
    )


class NotificationsOut(Answer):
    """What the person gets by e-mail."""

    available: bool = Field(description="Whether the installation sends e-mails.")
    email: str = Field(description="Where they go: the person's e-mail.", examples=["ann@example.com"])
    language: str = Field(description="Language of the e-mails: `en` or `de`.", examples=["en"])
    subscriptions: list[SubscriptionOut] = Field(description="By project.")


class SubscriptionChoice(Body):
    """Events of a project to get by e-mail."""

    project: str = Field(
        min_length=1, max_length=128, description="Slug or id of a project of the person.", examples=["research"]
    )
    event_types: Annotated[list[EventTypePattern], Field(min_length=1, max_length=64)] = Field(
        description="Types, or all types of a noun.", examples=[["operation.failed", "budget.*"]]
    )


class NotificationsReplace(Body):
    """What the person is to get by e-mail from now on."""

    language: Language = Field(description="Language of the e-mails.", examples=["en"])
    subscriptions: Annotated[list[SubscriptionChoice], Field(max_length=MAX_SUBSCRIPTIONS)] = Field(
        description="All of them; a project that is not named is no longer notified of."
    )
