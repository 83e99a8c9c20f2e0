"""Calls about what happened and what it cost, over a whole project."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import Event, EventType, Page, ProjectUsage


def events(*, cursor: str | None = None, limit: int | None = None) -> Call[Page[Event]]:
    """What happened in the project, newest first."""
    return request.get("events", Page[Event], {"cursor": cursor, "limit": limit})


def event_types() -> Call[Page[EventType]]:
    """Every type of event that there is, in order of their names."""
    return request.get("event-types", Page[EventType], scoped=False)


def usage(*, since: datetime | None = None, until: datetime | None = None) -> Call[ProjectUsage]:
    """Minutes and cost of the project's clusters in a period; the running month when none is given."""
    return request.get("billing/usage", ProjectUsage, {"since": since, "until": until})
