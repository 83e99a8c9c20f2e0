"""A service has the release that follows it under its name once it has ended.

Revision ID: 0010_successors_of_services
Revises: 0009_readers_of_resources
"""

from __future__ import annotations

from alembic import op

revision = "0010_successors_of_services"
down_revision = "0009_readers_of_resources"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE services ADD COLUMN successor jsonb")
    op.execute("COMMENT ON COLUMN services.successor IS 'the row that follows under its name when it has ended'")
    op.execute(
        "ALTER TABLE services ADD CONSTRAINT ck_services_succeeded_when_stopped"
        " CHECK (successor IS NULL OR stop_requested_at IS NOT NULL)"
    )
    op.execute("GRANT UPDATE (successor) ON services TO ipucloud_app")


def downgrade() -> None:
    op.execute("ALTER TABLE services DROP COLUMN successor")
