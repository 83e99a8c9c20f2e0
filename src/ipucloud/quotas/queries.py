"""Requests for higher quotas as the API shows them to customers."""

from __future__ import annotations

from ipucloud.db.documents import Fragment, rfc3339
from ipucloud.identity.documents import documents

MEMBERS = Fragment(
    f"""
  'id', page.id, 'state', page.state, 'region', page.region, 'machine_type', page.machine_type,
  'limit', page.wanted_limit, 'reason', page.reason, 'created_by', page.created_by,
  'created_at', {rfc3339("page.created_at")}, 'granted_limit', page.granted_limit, 'answer', page.answer,
  'decided_at', {rfc3339("page.decided_at")}
"""
)
"""The members of a request, over its row `page`."""
QUOTA_REQUESTS = documents("quota_requests", MEMBERS)
