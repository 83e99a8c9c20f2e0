"""Calls for webhooks: of the project, or of a billing account, which its payers and platform tokens can make."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, segment, without_none
from ipucloud.client.models import Delivery, Page, Webhook


def create(
    url: str, *, event_types: Sequence[str] = (), description: str = "", account: Ref | None = None
) -> Call[Webhook]:
    """Send events to a URL; its `secret` is shown once. `event_types`: such as `cluster.*`; empty: all."""
    body = {"url": url, "event_types": [*event_types], "description": description}
    return request.post(_path(account), Webhook, body, scoped=account is None)


def list(
    *,
    enabled: bool | None = None,
    order: str | None = None,
    limit: int | None = None,
    account: Ref | None = None,
) -> Call[Page[Webhook]]:
    """Webhooks, newest first; `enabled`: only those that are (True), or only disabled ones (False)."""
    query = {"enabled": enabled, "order": order, "limit": limit}
    return request.get(_path(account), Page[Webhook], query, scoped=account is None)


def get(webhook: Ref, *, account: Ref | None = None) -> Call[Webhook]:
    return request.get(_path(account, webhook), Webhook, scoped=account is None)


def update(
    webhook: Ref,
    *,
    url: str | None = None,
    event_types: Sequence[str] | None = None,
    description: str | None = None,
    enabled: bool | None = None,
    account: Ref | None = None,
) -> Call[Webhook]:
    """Change the given fields."""
    types = None if event_types is None else [*event_types]
    body = without_none(url=url, event_types=types, description=description, enabled=enabled)
    return request.patch(_path(account, webhook), Webhook, body, scoped=account is None)


def delete(webhook: Ref, *, account: Ref | None = None) -> Call[None]:
    return request.delete(_path(account, webhook), request.nothing, scoped=account is None)


def ping(webhook: Ref, *, account: Ref | None = None) -> Call[Delivery]:
    """Send a test message."""
    return request.post(f"{_path(account, webhook)}:ping", Delivery, scoped=account is None)


def rotate_secret(webhook: Ref, *, keep_previous_seconds: int = 86_400, account: Ref | None = None) -> Call[Webhook]:
    """Replace the secret; for this many seconds messages are also signed with the previous one."""
    body = {"keep_previous_seconds": keep_previous_seconds}
    return request.post(f"{_path(account, webhook)}:rotate-secret", Webhook, body, scoped=account is None)


def deliveries(
    webhook: Ref,
    *,
    state: str | None = None,
    order: str | None = None,
    limit: int | None = None,
    account: Ref | None = None,
) -> Call[Page[Delivery]]:
    """Messages of the last 30 days and pending ones, newest first."""
    query = {"state": state, "order": order, "limit": limit}
    return request.get(f"{_path(account, webhook)}/deliveries", Page[Delivery], query, scoped=account is None)


def redeliver(webhook: Ref, delivery: Ref, *, account: Ref | None = None) -> Call[Delivery]:
    """Send a message again with the same id."""
    path = f"{_path(account, webhook)}/deliveries/{segment(delivery)}:redeliver"
    return request.post(path, Delivery, scoped=account is None)


def _path(account: Ref | None, *webhook: Ref) -> str:
    owner = [] if account is None else ["billing", "accounts", segment(account)]
    return "/".join([*owner, "webhooks", *map(segment, webhook)])
