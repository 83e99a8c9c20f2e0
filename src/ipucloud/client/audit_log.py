"""Calls for the audit log."""

from __future__ import annotations

from ipucloud.client import call as request
from ipucloud.client.call import Call
from ipucloud.client.models import AuditEntry, Page


def list(
    *,
    actor: str | None = None,
    operation: str | None = None,
    writes: bool | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[AuditEntry]]:
    """Who asked for what in the project, newest first. `actor`: an e-mail, or a token's name.

    `writes`: without the reads of tokens and money.
    """
    query = {"actor": actor, "operation": operation, "writes": writes, "order": order, "limit": limit}
    return request.get("audit-log", Page[AuditEntry], query)
