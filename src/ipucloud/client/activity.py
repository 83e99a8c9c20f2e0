"""Calls for a project's events and usage."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import Event, EventType, Page, ProjectUsage


def events(*, cursor: str | None = None, limit: int | None = None) -> Call[Page[Event]]:
    """The project's events, newest first."""
    return request.get("events", Page[Event], {"cursor": cursor, "limit": limit})


def event_types() -> Call[Page[EventType]]:
    """All event types, by name."""
    return request.get("event-types", Page[EventType], scoped=False)


def usage(*, since: datetime | None = None, until: datetime | None = None) -> Call[ProjectUsage]:
    """Minutes and cost of the project's clusters in a period; default: the current month."""
    return request.get("billing/usage", ProjectUsage, {"since": since, "until": until})
