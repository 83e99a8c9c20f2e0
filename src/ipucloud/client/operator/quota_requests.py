"""Calls for requests for higher quotas."""

from __future__ import annotations

from ipucloud.client.call import Call, Ref, given, segment
from ipucloud.client.models import OperatorQuotaRequest, Page
from ipucloud.client.operator import call as request


def list(
    *, state: str | None = None, region: str | None = None, project: str | None = None, limit: int | None = None
) -> Call[Page[OperatorQuotaRequest]]:
    """Requests for higher quotas, oldest first."""
    filters = {"state": state, "region": region, "project": project}
    return request.get("quota-requests", Page[OperatorQuotaRequest], **filters, limit=limit)


def get(quota_request: Ref) -> Call[OperatorQuotaRequest]:
    """One request for a higher quota."""
    return request.get(f"quota-requests/{segment(quota_request)}", OperatorQuotaRequest)


def grant(quota_request: Ref, *, limit: int | None = None, answer: str | None = None) -> Call[OperatorQuotaRequest]:
    """Raise the quota to what was asked for, or to `limit`."""
    body = given(limit=limit, answer=answer)
    return request.post(f"quota-requests/{segment(quota_request)}:grant", OperatorQuotaRequest, body)


def decline(quota_request: Ref, *, reason: str) -> Call[OperatorQuotaRequest]:
    """Leave the quota as it is, and say why."""
    return request.post(f"quota-requests/{segment(quota_request)}:decline", OperatorQuotaRequest, {"reason": reason})
