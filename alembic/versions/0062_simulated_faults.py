"""Faults that operators ask a simulated site for.

Revision ID: 0062
Revises: 0061
"""

from __future__ import annotations

from alembic import op

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE site_regions ADD COLUMN simulated BOOLEAN DEFAULT false NOT NULL",
    "COMMENT ON COLUMN site_regions.simulated IS 'the site says that it has no hardware, and can be asked for faults'",
    """
    CREATE TABLE simulated_faults (
        id UUID NOT NULL,
        region TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        link TEXT,
        state TEXT DEFAULT 'requested' NOT NULL,
        state_entered_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        detail TEXT,
        created_by UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_simulated_faults PRIMARY KEY (id),
        CONSTRAINT fk_simulated_faults_region FOREIGN KEY(region) REFERENCES site_regions (region),
        CONSTRAINT ck_simulated_faults_kind CHECK (kind IN ('machine', 'link', 'host', 'controllers')),
        CONSTRAINT ck_simulated_faults_link CHECK (link IN ('internal', 'next', 'gateway')),
        CONSTRAINT ck_simulated_faults_state CHECK (state IN ('requested', 'in_force', 'ending', 'ended', 'failed')),
        CONSTRAINT ck_simulated_faults_of_link CHECK ((link IS NOT NULL) = (kind = 'link'))
    )
    """,
    "COMMENT ON COLUMN simulated_faults.name IS 'of the machine or host; of the region: every V-IPU controller of the site'",
    "COMMENT ON COLUMN simulated_faults.detail IS 'why it is not carried out yet, or not at all'",
    "COMMENT ON COLUMN simulated_faults.created_by IS 'token'",
    "CREATE UNIQUE INDEX uq_simulated_faults_open ON simulated_faults (kind, name)"
    " WHERE state NOT IN ('ended', 'failed')",
    "CREATE INDEX ix_simulated_faults_region ON simulated_faults (region, created_at, id)",
    "GRANT SELECT, INSERT ON simulated_faults TO ipucloud_app",
    "GRANT UPDATE (state, state_entered_at, detail) ON simulated_faults TO ipucloud_app",
)
DOWN = ("DROP TABLE simulated_faults", "ALTER TABLE site_regions DROP COLUMN simulated")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
