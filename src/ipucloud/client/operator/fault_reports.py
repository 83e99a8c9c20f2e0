"""Calls for faults that customers reported."""

from __future__ import annotations

from datetime import datetime

from ipucloud.client.call import Call, Ref, given, segment
from ipucloud.client.models import OperatorFaultReport, Page
from ipucloud.client.operator import call as request


def list(
    *,
    state: str | None = None,
    region: str | None = None,
    project: str | None = None,
    cluster: Ref | None = None,
    hardware: str | None = None,
    limit: int | None = None,
) -> Call[Page[OperatorFaultReport]]:
    """Faults that customers reported, oldest first. `hardware`: name of a machine or host."""
    filters = {"state": state, "region": region, "project": project, "cluster": cluster, "hardware": hardware}
    return request.get("fault-reports", Page[OperatorFaultReport], **filters, limit=limit)


def get(report: Ref) -> Call[OperatorFaultReport]:
    """One fault report."""
    return request.get(f"fault-reports/{segment(report)}", OperatorFaultReport)


def confirm(
    report: Ref, *, answer: str, code: str | None = None, observed_at: datetime | None = None
) -> Call[OperatorFaultReport]:
    """Make a health report of the hardware; `observed_at`: when evidence first shows the fault, otherwise now."""
    body = given(answer=answer, code=code, observed_at=observed_at)
    return request.post(f"fault-reports/{segment(report)}:confirm", OperatorFaultReport, body)


def dismiss(report: Ref, *, reason: str) -> Call[OperatorFaultReport]:
    """Tell the customer that nothing was found, and why."""
    return request.post(f"fault-reports/{segment(report)}:dismiss", OperatorFaultReport, {"reason": reason})
