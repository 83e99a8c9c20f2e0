"""Every cluster has a user endpoint of its own at its V-IPU controller, and a region none.

Clusters in use get theirs from the next audit.

Revision ID: 0045
Revises: 0044
"""

from __future__ import annotations

from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE clusters ADD COLUMN endpoint_host text")
    op.execute("ALTER TABLE clusters ADD COLUMN endpoint_port integer")
    op.execute(
        "ALTER TABLE clusters ADD CONSTRAINT ck_clusters_endpoint"
        " CHECK (num_nulls(endpoint_host, endpoint_port) IN (0, 2))"
    )
    op.execute(
        "COMMENT ON COLUMN clusters.endpoint_host IS 'user endpoint of its V-IPU allocation; NULL: it has none now'"
    )
    op.execute("ALTER TABLE site_regions DROP CONSTRAINT ck_site_regions_vipu")
    op.execute("ALTER TABLE site_regions DROP COLUMN vipu_user_port")
    op.execute(
        "ALTER TABLE site_regions ADD CONSTRAINT ck_site_regions_vipu"
        " CHECK (num_nulls(vipu_host, vipu_admin_port) IN (0, 2))"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE site_regions DROP CONSTRAINT ck_site_regions_vipu")
    op.execute("ALTER TABLE site_regions ADD COLUMN vipu_user_port integer")
    # The next reading of the inventory corrects the port.
    op.execute("UPDATE site_regions SET vipu_user_port = vipu_admin_port")
    op.execute(
        "ALTER TABLE site_regions ADD CONSTRAINT ck_site_regions_vipu"
        " CHECK (num_nulls(vipu_host, vipu_user_port, vipu_admin_port) IN (0, 3))"
    )
    op.execute("ALTER TABLE clusters DROP CONSTRAINT ck_clusters_endpoint")
    op.execute("ALTER TABLE clusters DROP COLUMN endpoint_port")
    op.execute("ALTER TABLE clusters DROP COLUMN endpoint_host")
