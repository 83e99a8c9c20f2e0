"""What the site showed of machines and hosts before another cluster could get them.

Revision ID: 0024
Revises: 0023
"""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE hardware_cleanings (
        allocation_id UUID NOT NULL,
        external_name TEXT NOT NULL,
        observed JSONB DEFAULT '{}' NOT NULL,
        observed_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_hardware_cleanings PRIMARY KEY (allocation_id),
        CONSTRAINT fk_hardware_cleanings_allocation_id FOREIGN KEY (allocation_id) REFERENCES allocations (id)
    )
    """,
    "COMMENT ON TABLE hardware_cleanings IS"
    " 'what the site showed of a machine or host before another cluster could get it'",
    "COMMENT ON COLUMN hardware_cleanings.external_name IS 'under which the cluster had used the hardware'",
    "CREATE INDEX ix_hardware_cleanings_observed ON hardware_cleanings (observed_at)",
    "GRANT SELECT, INSERT ON hardware_cleanings TO ipucloud_app",
    "GRANT UPDATE (observed, observed_at) ON hardware_cleanings TO ipucloud_app",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE hardware_cleanings")
