"""Calls for operations."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, segment
from ipucloud.client.models import Operation, Page


def get(operation: Ref, *, wait: int = 0) -> Call[Operation]:
    """One operation. The service responds when it is done, or after `wait` seconds (at most 60)."""
    query = {"wait": min(wait, 60)} if wait else {}
    return request.get(f"operations/{segment(operation)}", Operation, query, hold=wait)


def list(
    *,
    state: str | Sequence[str] | None = None,
    kind: str | None = None,
    cluster: Ref | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[Operation]]:
    """The project's operations, newest first. `state`: one or several. `cluster`: by id."""
    query: Query = {
        "state": state if state is None or isinstance(state, str) else tuple(state),
        "kind": kind,
        "cluster": None if cluster is None else str(cluster),
        "order": order,
        "limit": limit,
    }
    return request.get("operations", Page[Operation], query)


def cancel(operation: Ref) -> Call[Operation]:
    """Cancel an operation. Once `cancelled`, everything is undone and nothing is charged."""
    return request.post(f"operations/{segment(operation)}:cancel", Operation)
