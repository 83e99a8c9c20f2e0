"""Quotas of volumes, in GiB, where an operator chose other limits than the default.

Revision ID: 0250
Revises: 0210
"""

from __future__ import annotations

from alembic import op

revision = "0250"
down_revision = "0210"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE volume_quotas (
        project_id UUID NOT NULL,
        region TEXT NOT NULL,
        gib_limit INTEGER NOT NULL,
        CONSTRAINT pk_volume_quotas PRIMARY KEY (project_id, region),
        CONSTRAINT fk_volume_quotas_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_volume_quotas_gib_limit CHECK (gib_limit >= 0)
    )
    """,
    "COMMENT ON TABLE volume_quotas IS 'without a row the limit is that of the settings'",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON volume_quotas TO ipucloud_app",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE volume_quotas")
