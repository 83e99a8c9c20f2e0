"""Serial numbers of machines' parts.

Revision ID: 0043
Revises: 0042
"""

from __future__ import annotations

from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE shown_hardware ADD part_serials TEXT DEFAULT '{}' NOT NULL")
    op.execute("COMMENT ON COLUMN shown_hardware.part_serials IS 'serial numbers of parts, as JSON'")


def downgrade() -> None:
    op.execute("ALTER TABLE shown_hardware DROP part_serials")
