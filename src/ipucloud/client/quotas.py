"""Calls for quotas."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import Page, Quota


def list() -> Call[Page[Quota]]:
    """How many machines the project may hold, by region and machine type."""
    return request.get("quotas", Page[Quota])
