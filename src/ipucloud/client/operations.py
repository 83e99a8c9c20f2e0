"""Calls for operations."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, segment
from ipucloud.client.models import Operation, Page


def get(operation: str, *, wait: int = 0) -> Call[Operation]:
    """One operation. The service responds when it is done, or after `wait` seconds (at most 60)."""
    query = {"wait": min(wait, 60)} if wait else {}
    return request.get(f"operations/{segment(operation)}", Operation, query, hold=wait)


def page(
    *, state: str | None = None, cluster: str | None = None, order: str | None = None, limit: int | None = None
) -> Call[Page[Operation]]:
    query = {"state": state, "cluster": cluster, "order": order, "limit": limit}
    return request.get("operations", Page[Operation], query)


def cancel(operation: str) -> Call[Operation]:
    """Cancel an operation. Once `cancelled`, everything is undone and nothing is charged."""
    return request.post(f"operations/{segment(operation)}:cancel", Operation)
