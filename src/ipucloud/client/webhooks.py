"""Calls for webhooks."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, segment
from ipucloud.client.models import Delivery, Page, Webhook


def create(url: str, *, event_types: Sequence[str] = (), description: str = "") -> Call[Webhook]:
    """Send events to a URL; its `secret` is shown once. `event_types`: such as `cluster.*`; empty: all."""
    return request.post("webhooks", Webhook, {"url": url, "event_types": list(event_types), "description": description})


def page(*, limit: int | None = None) -> Call[Page[Webhook]]:
    return request.get("webhooks", Page[Webhook], {"limit": limit})


def get(webhook: str) -> Call[Webhook]:
    return request.get(_path(webhook), Webhook)


def update(
    webhook: str, *, url: str | None = None, event_types: Sequence[str] | None = None, enabled: bool | None = None
) -> Call[Webhook]:
    """Change the given fields."""
    types = None if event_types is None else list(event_types)
    return request.patch(_path(webhook), Webhook, given(url=url, event_types=types, enabled=enabled))


def remove(webhook: str) -> Call[None]:
    return request.delete(_path(webhook), request.nothing)


def ping(webhook: str) -> Call[Delivery]:
    """Send a test message."""
    return request.post(f"{_path(webhook)}:ping", Delivery)


def rotate_secret(webhook: str, *, keep_previous_seconds: int = 86_400) -> Call[Webhook]:
    """Replace the secret; for this many seconds messages are also signed with the previous one."""
    return request.post(f"{_path(webhook)}:rotate-secret", Webhook, {"keep_previous_seconds": keep_previous_seconds})


def deliveries(webhook: str, *, state: str | None = None, limit: int | None = None) -> Call[Page[Delivery]]:
    return request.get(f"{_path(webhook)}/deliveries", Page[Delivery], {"state": state, "limit": limit})


def redeliver(webhook: str, delivery: str) -> Call[Delivery]:
    """Send a message again with the same id."""
    return request.post(f"{_path(webhook)}/deliveries/{segment(delivery)}:redeliver", Delivery)


def _path(webhook: str) -> str:
    return f"webhooks/{segment(webhook)}"
