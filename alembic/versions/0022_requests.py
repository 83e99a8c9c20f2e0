"""Operations and events are found by the request that caused them.

Revision ID: 0022
Revises: 0021
"""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX ix_operations_request ON operations (request_id)")
    op.execute("CREATE INDEX ix_events_request ON events (request_id) WHERE request_id IS NOT NULL")


def downgrade() -> None:
    op.execute("DROP INDEX ix_events_request")
    op.execute("DROP INDEX ix_operations_request")
