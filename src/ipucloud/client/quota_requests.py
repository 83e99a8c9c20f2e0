"""Calls for requests for higher quotas."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, segment
from ipucloud.client.models import Page, QuotaRequest


def create(*, region: str, machine_type: str, limit: int, reason: str) -> Call[QuotaRequest]:
    """Ask the operator for a limit of so many machines of a type in a region."""
    body = {"region": region, "machine_type": machine_type, "limit": limit, "reason": reason}
    return request.post("quota-requests", QuotaRequest, body)


def list(*, state: Sequence[str] = (), order: str | None = None, limit: int | None = None) -> Call[Page[QuotaRequest]]:
    """What the project asked for, newest first. `state`: any of these."""
    query: Query = {"state": tuple(state), "order": order, "limit": limit}
    return request.get("quota-requests", Page[QuotaRequest], query)


def get(quota_request: Ref) -> Call[QuotaRequest]:
    """One request."""
    return request.get(f"quota-requests/{segment(quota_request)}", QuotaRequest)


def withdraw(quota_request: Ref) -> Call[QuotaRequest]:
    """Ask no longer."""
    return request.post(f"quota-requests/{segment(quota_request)}:withdraw", QuotaRequest)
