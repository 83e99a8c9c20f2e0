"""Clusters keep from when they are billed, which is part of their region's offer.

Revision ID: 0007_billing_rule_of_clusters
Revises: 0006_container_images
"""

from __future__ import annotations

from alembic import op

revision = "0007_billing_rule_of_clusters"
down_revision = "0006_container_images"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE clusters ADD COLUMN billing_starts text NOT NULL DEFAULT 'active'")
    op.execute(
        "ALTER TABLE clusters ADD CONSTRAINT ck_clusters_billing_starts"
        " CHECK (billing_starts IN ('active', 'requested'))"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE clusters DROP COLUMN billing_starts")
