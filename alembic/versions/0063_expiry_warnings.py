"""When the owner of a cluster was warned that it expires.

Revision ID: 0063
Revises: 0062
"""

from __future__ import annotations

from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE clusters ADD expiry_warned_at TIMESTAMP WITH TIME ZONE",
    "COMMENT ON COLUMN clusters.expiry_warned_at IS 'of this expires_at'",
    "CREATE INDEX ix_clusters_expires_at ON clusters (expires_at) WHERE deleted_at IS NULL AND expires_at IS NOT NULL",
)
DOWN = ("DROP INDEX ix_clusters_expires_at", "ALTER TABLE clusters DROP expiry_warned_at")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
