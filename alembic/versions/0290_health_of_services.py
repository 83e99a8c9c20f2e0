"""Services are checked by requests on their servers, and started again when these fail.

Revision ID: 0290
Revises: 0280
"""

from __future__ import annotations

from alembic import op

revision = "0290"
down_revision = "0280"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE services
        ADD COLUMN health_check JSONB,
        ADD COLUMN checked_at TIMESTAMP WITH TIME ZONE,
        ADD COLUMN checks_failed INTEGER DEFAULT '0' NOT NULL,
        ADD COLUMN check_detail TEXT,
        ADD COLUMN unhealthy_at TIMESTAMP WITH TIME ZONE,
        ADD CONSTRAINT ck_services_checks_failed CHECK (checks_failed >= 0),
        ADD CONSTRAINT ck_services_checked_if_asked CHECK (
            health_check IS NOT NULL OR (checked_at IS NULL AND unhealthy_at IS NULL AND checks_failed = 0))
    """,
    "GRANT UPDATE (checked_at, checks_failed, check_detail, unhealthy_at) ON services TO ipucloud_app",
    "COMMENT ON COLUMN services.health_check IS 'as requested'",
    "COMMENT ON COLUMN services.checks_failed IS 'in a row'",
    "COMMENT ON COLUMN services.check_detail IS 'what was wrong at the last check'",
)
DOWN = """
    ALTER TABLE services
        DROP COLUMN health_check, DROP COLUMN checked_at, DROP COLUMN checks_failed, DROP COLUMN check_detail,
        DROP COLUMN unhealthy_at
"""


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute(DOWN)
