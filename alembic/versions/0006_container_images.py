"""Container images of jobs and services, and which regions say that their servers run them.

Revision ID: 0006_container_images
Revises: 0005_no_rebooting_clusters
"""

from __future__ import annotations

from alembic import op

revision = "0006_container_images"
down_revision = "0005_no_rebooting_clusters"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE site_regions ADD COLUMN containers boolean NOT NULL DEFAULT false")
    op.execute("COMMENT ON COLUMN site_regions.containers IS 'the site says that its servers run container images'")
    for table in ("jobs", "services"):
        op.execute(
            f"""
            ALTER TABLE {table}
              ADD COLUMN image text, ADD COLUMN registry_username text, ADD COLUMN registry_password text,
              ADD CONSTRAINT ck_{table}_registry_of_image CHECK (registry_username IS NULL OR image IS NOT NULL),
              ADD CONSTRAINT ck_{table}_registry_login
                CHECK (registry_password IS NULL OR registry_username IS NOT NULL)
            """
        )
        op.execute(f"COMMENT ON COLUMN {table}.image IS 'reference of the container image; NULL: none'")
        op.execute(f"COMMENT ON COLUMN {table}.registry_password IS 'sealed; NULL once it has ended'")
        op.execute(f"GRANT UPDATE (registry_password) ON {table} TO ipucloud_app")


def downgrade() -> None:
    for table in ("jobs", "services"):
        op.execute(
            f"ALTER TABLE {table} DROP COLUMN registry_password, DROP COLUMN registry_username, DROP COLUMN image"
        )
    op.execute("ALTER TABLE site_regions DROP COLUMN containers")
