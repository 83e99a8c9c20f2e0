"""Terminals that are over are removed after 30 days.

Revision ID: 0165
Revises: 0150
"""

from __future__ import annotations

from alembic import op

revision = "0165"
down_revision = "0150"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("GRANT DELETE ON terminals TO ipucloud_app")


def downgrade() -> None:
    op.execute("REVOKE DELETE ON terminals FROM ipucloud_app")
