"""Calls for what happens to the platform."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.client.call import Call, Ref
from ipucloud.client.models import CloudEvent, OperatorEvent, Page
from ipucloud.client.operator import call as request


def list(
    *,
    type: Sequence[str] = (),
    region: str | None = None,
    project: str | None = None,
    subject: Ref | None = None,
    after: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[OperatorEvent]]:
    """What happens to the platform, newest first; `project`: a slug. `after` and `order` as for a project's events."""
    filters = {"region": region, "project": project, "subject": subject, "after": after, "order": order}
    return request.get("events", Page[OperatorEvent], type=tuple(type), **filters, limit=limit)


def cloud_events(
    *,
    type: Sequence[str] = (),
    region: str | None = None,
    project: str | None = None,
    subject: Ref | None = None,
    after: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[CloudEvent]]:
    """The same events in the JSON format of CloudEvents 1.0."""
    filters = {"region": region, "project": project, "subject": subject, "after": after, "order": order}
    return request.get("cloud-events", Page[CloudEvent], type=tuple(type), **filters, limit=limit)


def stream(*, after: str | None = None) -> Call[OperatorEvent]:
    """What happens to the platform, for `Client.stream`: from now on, or all after an event."""
    return request.get("events/stream", OperatorEvent, after=after)
