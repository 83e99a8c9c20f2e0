"""Calls for who asked for what, in every project and outside of projects."""

from __future__ import annotations

from ipucloud.client.call import Call
from ipucloud.client.models import AuditEntry, Page
from ipucloud.client.operator import call as request


def list(
    *,
    project: str | None = None,
    actor: str | None = None,
    operation: str | None = None,
    writes: bool | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[AuditEntry]]:
    """Who asked for what, in every project and outside of projects; `project`: a slug."""
    filters = {"project": project, "actor": actor, "operation": operation, "writes": writes, "order": order}
    return request.get("audit-log", Page[AuditEntry], **filters, limit=limit)
