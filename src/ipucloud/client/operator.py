"""Calls for operators of the service, which need a platform token: `support` reads, `admin` changes."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, segment
from ipucloud.client.models import Page, RegionCapacity, RequestTrace, Stuck, WhatIs, WorkItem


def stuck(*, region: str | None = None, limit: int | None = None) -> Call[Page[Stuck]]:
    """What takes longer than usual or will not continue, oldest first, with what to do."""
    return _get("stuck", Page[Stuck], region=region, limit=limit)


def what_is(name: Ref) -> Call[Page[WhatIs]]:
    """Every object with an id, or with a name that is unique in the service."""
    return _get(f"what-is/{segment(name)}", Page[WhatIs])


def request_trace(request_id: str) -> Call[RequestTrace]:
    """Everything that the database knows of one request."""
    return _get(f"requests/{segment(request_id)}", RequestTrace)


def capacity(region: str) -> Call[RegionCapacity]:
    """Machines by state, what fits, free blocks, fragmentation and expiries of a region."""
    return _get(f"regions/{segment(region)}/capacity", RegionCapacity)


def work(*, kind: str | None = None, state: str | None = None, limit: int | None = None) -> Call[Page[WorkItem]]:
    """Work items by kind and key; `state`: `due`, `leased`, `resting` or `parked`."""
    return _get("work", Page[WorkItem], kind=kind, state=state, limit=limit)


def requeue(kind: str, key: Ref) -> Call[WorkItem]:
    """Make a work item due now, parked or not."""
    return _post(f"work/{segment(kind)}/{segment(key)}:requeue", WorkItem)


def park(kind: str, key: Ref, *, reason: str) -> Call[WorkItem]:
    """Set a work item aside until it is requeued, or a request wakes it."""
    return _post(f"work/{segment(kind)}/{segment(key)}:park", WorkItem, {"reason": reason})


def _get(path: str, answer: request.Reading[request.Result], **query: request.QueryValue) -> Call[request.Result]:
    return request.get(f"operator/{path}", answer, query, scoped=False)


def _post(
    path: str, answer: request.Reading[request.Result], body: dict[str, object] | None = None
) -> Call[request.Result]:
    return request.post(f"operator/{path}", answer, body, scoped=False)
