"""Good readings of health reports are counted; automatic actions of a region can be halted.

Revision ID: 0023
Revises: 0022
"""

from __future__ import annotations

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE health_reports ADD good_readings INTEGER DEFAULT '0' NOT NULL")
    op.execute("COMMENT ON COLUMN health_reports.good_readings IS 'in a row, since it was seen last'")
    op.execute("GRANT UPDATE (good_readings) ON health_reports TO ipucloud_app")
    op.execute("ALTER TABLE observations ADD halted_since TIMESTAMP WITH TIME ZONE")
    op.execute("COMMENT ON COLUMN observations.halted_since IS 'too much failed at once: nothing acts by itself'")


def downgrade() -> None:
    op.execute("ALTER TABLE observations DROP halted_since")
    op.execute("ALTER TABLE health_reports DROP good_readings")
