"""Removals can be frozen, deletes forced; steps keep notes; sweeps remember what they found; power that never settles.

Revision ID: 0028
Revises: 0027
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE operation_steps ADD notes JSONB",
    "ALTER TABLE operations ADD forced_reason TEXT",
    "COMMENT ON COLUMN operations.forced_reason IS 'why an operator has it end without dead hardware; NULL: as usual'",
    "CREATE INDEX ix_operations_created ON operations (created_at, id)",
    """
    CREATE TABLE freezes (
        id UUID NOT NULL,
        region TEXT,
        reason TEXT NOT NULL,
        created_by UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE,
        ended_by UUID,
        end_reason TEXT,
        CONSTRAINT pk_freezes PRIMARY KEY (id),
        CONSTRAINT ck_freezes_end CHECK (num_nulls(ended_at, ended_by, end_reason) IN (0, 3))
    )
    """,
    "COMMENT ON TABLE freezes IS"
    " 'while one is live, no step that removes or switches off begins; live: not ended, not expired'",
    "COMMENT ON COLUMN freezes.region IS 'NULL: every region'",
    "COMMENT ON COLUMN freezes.created_by IS 'token'",
    "COMMENT ON COLUMN freezes.ended_by IS 'token'",
    "CREATE UNIQUE INDEX uq_freezes_open ON freezes (region) NULLS NOT DISTINCT WHERE ended_at IS NULL",
    "ALTER TABLE repairs ADD region TEXT",
    "COMMENT ON COLUMN repairs.region IS 'NULL: the database alone was repaired'",
    """
    CREATE TABLE site_findings (
        rule TEXT NOT NULL,
        region TEXT NOT NULL,
        object_id TEXT NOT NULL,
        host TEXT DEFAULT '' NOT NULL,
        project_id UUID,
        detail TEXT NOT NULL,
        first_seen_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        last_seen_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        sightings INTEGER DEFAULT '1' NOT NULL,
        left_because TEXT,
        CONSTRAINT pk_site_findings PRIMARY KEY (rule, region, object_id, host),
        CONSTRAINT fk_site_findings_project_id FOREIGN KEY(project_id) REFERENCES projects (id)
    )
    """,
    "CREATE INDEX ix_site_findings_project ON site_findings (project_id)",
    "COMMENT ON TABLE site_findings IS 'what the last sweep found at the sites against a rule'",
    "COMMENT ON COLUMN site_findings.host IS 'empty: not on a host'",
    "COMMENT ON COLUMN site_findings.project_id IS 'NULL: not a customer''s object'",
    "COMMENT ON COLUMN site_findings.sightings IS 'sweeps in a row that found it'",
    "COMMENT ON COLUMN site_findings.left_because IS 'why the last sweep left it as it is'",
    "GRANT SELECT, INSERT ON freezes, site_findings TO ipucloud_app",
    "GRANT UPDATE (ended_at, ended_by, end_reason) ON freezes TO ipucloud_app",
    "GRANT UPDATE, DELETE ON site_findings TO ipucloud_app",
)
DOWN = (
    "DROP TABLE site_findings",
    "ALTER TABLE repairs DROP region",
    "DROP TABLE freezes",
    "DROP INDEX ix_operations_created",
    "ALTER TABLE operations DROP forced_reason",
    "ALTER TABLE operation_steps DROP notes",
)


def upgrade() -> None:
    _replace("'powered_off'::text", "'powered_off'::text, 'power_stuck'::text")
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DELETE FROM health_reports WHERE code = 'power_stuck'")
    _replace(", 'power_stuck'::text", "")
    for statement in DOWN:
        op.execute(statement)


def _replace(old: str, new: str) -> None:
    """Change the list of codes that a report may have."""
    constraint = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'ck_health_reports_code'"
    definition: str = op.get_bind().execute(sa.text(constraint)).scalar_one()
    op.execute("ALTER TABLE health_reports DROP CONSTRAINT ck_health_reports_code")
    op.execute(f"ALTER TABLE health_reports ADD CONSTRAINT ck_health_reports_code {definition.replace(old, new)}")
