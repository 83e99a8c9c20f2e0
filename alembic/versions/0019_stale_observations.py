"""Observations say until when they are fresh, so that readers need no setting of the worker's.

Revision ID: 0019
Revises: 0018
"""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE observations ADD stale_at TIMESTAMP WITH TIME ZONE")
    op.execute("COMMENT ON COLUMN observations.stale_at IS 'from then on nothing is known; NULL: never observed'")


def downgrade() -> None:
    op.execute("ALTER TABLE observations DROP stale_at")
