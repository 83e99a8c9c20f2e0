"""Daily sums have the machine-minutes that were credited.

Revision ID: 0030
Revises: 0029
"""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE usage_days ADD credited_machine_minutes BIGINT DEFAULT '0' NOT NULL")
    op.execute("ALTER TABLE usage_days ALTER credited_machine_minutes DROP DEFAULT")
    op.execute("COMMENT ON COLUMN usage_days.credited_machine_minutes IS 'not among machine_minutes'")
    # Days with credited machines are rolled up again.
    op.execute(
        "UPDATE day_rollups SET hours = -1"
        " WHERE day IN (SELECT (hour AT TIME ZONE 'UTC')::date FROM usage_charges WHERE credited > 0)"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE usage_days DROP credited_machine_minutes")
