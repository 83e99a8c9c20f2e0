"""Calls about a project's webhooks."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, segment
from ipucloud.client.models import Delivery, Page, Webhook


def create(url: str, *, event_types: Sequence[str] = (), description: str = "") -> Call[Webhook]:
    """Have events sent to a URL; its `secret` is shown once. `event_types`: such as `cluster.*`; empty: all."""
    body = {"url": url, "event_types": list(event_types), "description": description}
    return request.post("webhooks", Webhook.model_validate_json, body, scoped=True)


def page(*, limit: int | None = None) -> Call[Page[Webhook]]:
    return request.get("webhooks", Page[Webhook].model_validate_json, {"limit": limit}, scoped=True)


def get(webhook: str) -> Call[Webhook]:
    return request.get(_path(webhook), Webhook.model_validate_json, scoped=True)


def update(
    webhook: str, *, url: str | None = None, event_types: Sequence[str] | None = None, enabled: bool | None = None
) -> Call[Webhook]:
    """Change what is given."""
    types = None if event_types is None else list(event_types)
    body = given(url=url, event_types=types, enabled=enabled)
    return request.patch(_path(webhook), Webhook.model_validate_json, body, scoped=True)


def remove(webhook: str) -> Call[None]:
    return request.delete(_path(webhook), request.nothing, scoped=True)


def ping(webhook: str) -> Call[Delivery]:
    """Send a test message."""
    return request.post(f"{_path(webhook)}:ping", Delivery.model_validate_json, scoped=True)


def rotate_secret(webhook: str, *, keep_previous_seconds: int = 86_400) -> Call[Webhook]:
    """Replace the secret; for so many seconds messages are signed by the one before, too."""
    body = {"keep_previous_seconds": keep_previous_seconds}
    return request.post(f"{_path(webhook)}:rotate-secret", Webhook.model_validate_json, body, scoped=True)


def deliveries(webhook: str, *, state: str | None = None, limit: int | None = None) -> Call[Page[Delivery]]:
    query = {"state": state, "limit": limit}
    return request.get(f"{_path(webhook)}/deliveries", Page[Delivery].model_validate_json, query, scoped=True)


def redeliver(webhook: str, delivery: str) -> Call[Delivery]:
    """Send a message again, under its own id."""
    path = f"{_path(webhook)}/deliveries/{segment(delivery)}:redeliver"
    return request.post(path, Delivery.model_validate_json, scoped=True)


def _path(webhook: str) -> str:
    return f"webhooks/{segment(webhook)}"
