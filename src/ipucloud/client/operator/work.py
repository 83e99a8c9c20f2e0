"""Calls for work that goes on, or does not: operations, requests, work items, and what is stuck."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.client.call import Call, Ref, segment
from ipucloud.client.models import OperatorOperation, Page, RequestTrace, Stuck, WhatIs, WorkItem
from ipucloud.client.operator import call as request


def stuck(*, region: str | None = None, limit: int | None = None) -> Call[Page[Stuck]]:
    """What takes longer than usual or will not continue, oldest first, with what to do."""
    return request.get("stuck", Page[Stuck], region=region, limit=limit)


def what_is(name: Ref) -> Call[Page[WhatIs]]:
    """Every object with an id, or with a name that is unique in the service."""
    return request.get(f"what-is/{segment(name)}", Page[WhatIs])


def request_trace(request_id: str) -> Call[RequestTrace]:
    """Everything that the database knows of one request."""
    return request.get(f"requests/{segment(request_id)}", RequestTrace)


def operations(
    *,
    state: Sequence[str] = (),
    kind: str | None = None,
    project: str | None = None,
    cluster: Ref | None = None,
    region: str | None = None,
    limit: int | None = None,
) -> Call[Page[OperatorOperation]]:
    """Operations of every project, newest first."""
    filters = {"kind": kind, "project": project, "cluster": cluster, "region": region}
    return request.get("operations", Page[OperatorOperation], state=tuple(state), **filters, limit=limit)


def list(*, kind: str | None = None, state: str | None = None, limit: int | None = None) -> Call[Page[WorkItem]]:
    """Work items by kind and key; `state`: `due`, `leased`, `resting` or `parked`."""
    return request.get("work", Page[WorkItem], kind=kind, state=state, limit=limit)


def requeue(kind: str, key: Ref) -> Call[WorkItem]:
    """Make a work item due now, parked or not."""
    return request.post(f"work/{segment(kind)}/{segment(key)}:requeue", WorkItem)


def park(kind: str, key: Ref, *, reason: str) -> Call[WorkItem]:
    """Set a work item aside until it is requeued, or a request wakes it."""
    return request.post(f"work/{segment(kind)}/{segment(key)}:park", WorkItem, {"reason": reason})
