"""The names of export schedules, which they have of what they deliver where."""

from __future__ import annotations

from ipucloud.db.documents import Fragment, clauses

SCHEDULE_NAME = "c.name || '.' || s.every || '.' || s.dataset"
NAMED_SCHEDULES = Fragment(
    clauses(
        "(SELECT s.project_id, s.account_id, s.id,",
        SCHEDULE_NAME,
        "AS name FROM export_schedules s JOIN s3_connections c ON c.id = s.connection_id WHERE s.deleted_at IS NULL)",
        "AS named",
    )
)
"""For a FROM: the project_id or account_id, the id and the name of every schedule."""
