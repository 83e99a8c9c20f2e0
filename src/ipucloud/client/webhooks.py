"""Calls for webhooks."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, segment
from ipucloud.client.models import Delivery, Page, Webhook


def create(url: str, *, event_types: Sequence[str] = (), description: str = "") -> Call[Webhook]:
    """Send events to a URL; its `secret` is shown once. `event_types`: such as `cluster.*`; empty: all."""
    return request.post("webhooks", Webhook, {"url": url, "event_types": [*event_types], "description": description})


def list(*, order: str | None = None, limit: int | None = None) -> Call[Page[Webhook]]:
    return request.get("webhooks", Page[Webhook], {"order": order, "limit": limit})


def get(webhook: Ref) -> Call[Webhook]:
    return request.get(_path(webhook), Webhook)


def update(
    webhook: Ref,
    *,
    url: str | None = None,
    event_types: Sequence[str] | None = None,
    description: str | None = None,
    enabled: bool | None = None,
) -> Call[Webhook]:
    """Change the given fields."""
    types = None if event_types is None else [*event_types]
    body = given(url=url, event_types=types, description=description, enabled=enabled)
    return request.patch(_path(webhook), Webhook, body)


def delete(webhook: Ref) -> Call[None]:
    return request.delete(_path(webhook), request.nothing)


def ping(webhook: Ref) -> Call[Delivery]:
    """Send a test message."""
    return request.post(f"{_path(webhook)}:ping", Delivery)


def rotate_secret(webhook: Ref, *, keep_previous_seconds: int = 86_400) -> Call[Webhook]:
    """Replace the secret; for this many seconds messages are also signed with the previous one."""
    return request.post(f"{_path(webhook)}:rotate-secret", Webhook, {"keep_previous_seconds": keep_previous_seconds})


def deliveries(
    webhook: Ref, *, state: str | None = None, order: str | None = None, limit: int | None = None
) -> Call[Page[Delivery]]:
    """Messages of the last 30 days and pending ones, newest first."""
    query = {"state": state, "order": order, "limit": limit}
    return request.get(f"{_path(webhook)}/deliveries", Page[Delivery], query)


def redeliver(webhook: Ref, delivery: Ref) -> Call[Delivery]:
    """Send a message again with the same id."""
    return request.post(f"{_path(webhook)}/deliveries/{segment(delivery)}:redeliver", Delivery)


def _path(webhook: Ref) -> str:
    return f"webhooks/{segment(webhook)}"
