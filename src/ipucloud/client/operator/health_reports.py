"""Calls for health reports: what is wrong with machines and hosts."""

from __future__ import annotations

from ipucloud.client.call import Call, Ref, segment
from ipucloud.client.models import HealthReport, Page
from ipucloud.client.operator import call as request


def list(
    *,
    region: str | None = None,
    machine: str | None = None,
    host: str | None = None,
    code: str | None = None,
    source: str | None = None,
    state: str | None = None,
    limit: int | None = None,
) -> Call[Page[HealthReport]]:
    """What is wrong with machines and hosts, oldest first; `state`: `suspected`, `live`, or `cleared` for the past."""
    filters = {"region": region, "machine": machine, "host": host, "code": code, "source": source, "state": state}
    return request.get("health-reports", Page[HealthReport], **filters, limit=limit)


def get(report: Ref) -> Call[HealthReport]:
    """One health report."""
    return request.get(f"health-reports/{segment(report)}", HealthReport)


def clear(report: Ref) -> Call[HealthReport]:
    """End a health report; observation reports the same again if it is still seen."""
    return request.post(f"health-reports/{segment(report)}:clear", HealthReport)
