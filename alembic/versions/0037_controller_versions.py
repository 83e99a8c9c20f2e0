"""What V-IPU controllers run, as observed, and whether they test clusters; the numbers of machines' IPUs in their domain.

Until the next inventory, every controller tests clusters, and IPUs are numbered along their domain's IPU-Links.

Revision ID: 0037
Revises: 0036
"""

from __future__ import annotations

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "ALTER TABLE site_regions ADD COLUMN vipu_version TEXT, ADD COLUMN vipu_version_at TIMESTAMP WITH TIME ZONE,"
        " ADD COLUMN vipu_cluster_test BOOLEAN DEFAULT true NOT NULL,"
        " ADD CONSTRAINT ck_site_regions_vipu_version CHECK ((vipu_version IS NULL) = (vipu_version_at IS NULL))"
    )
    op.execute("COMMENT ON COLUMN site_regions.vipu_version IS 'of the controller, as it said last'")
    op.execute("COMMENT ON COLUMN site_regions.vipu_version_at IS 'when it said so first'")


def downgrade() -> None:
    op.execute(
        "ALTER TABLE site_regions DROP CONSTRAINT ck_site_regions_vipu_version, DROP COLUMN vipu_version,"
        " DROP COLUMN vipu_version_at, DROP COLUMN vipu_cluster_test"
    )
