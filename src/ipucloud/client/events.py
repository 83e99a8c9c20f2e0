"""Calls for a project's events."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import CloudEvent, Event, EventType, Page


def list(
    *,
    type: str | None = None,
    subject: str | None = None,
    after: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[Event]]:
    """The project's events, newest first.

    `type`: `cluster.active`, or `cluster.*` for a noun. `subject`: an object's id. `after`: only what became visible
    after this event; with `order="created_at"`, a program that continues after its last event misses none.
    """
    query = {"type": type, "subject": subject, "after": after, "order": order, "limit": limit}
    return request.get("events", Page[Event], query)


def cloud_events(
    *,
    type: str | None = None,
    subject: str | None = None,
    after: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[CloudEvent]]:
    """The same events in the JSON format of CloudEvents 1.0; the arguments are those of `list`."""
    query = {"type": type, "subject": subject, "after": after, "order": order, "limit": limit}
    return request.get("cloud-events", Page[CloudEvent], query)


def stream(*, after: str | None = None) -> Call[Event]:
    """The project's events as they become visible, for `Client.stream`: from now on, or all after an event."""
    return request.get("events/stream", Event, {"after": after})


def types() -> Call[Page[EventType]]:
    """All event types, by name."""
    return request.get("event-types", Page[EventType], scoped=False)
