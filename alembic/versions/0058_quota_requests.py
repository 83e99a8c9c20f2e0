"""Requests of projects for higher quotas.

Revision ID: 0058
Revises: 0057
"""

from __future__ import annotations

from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE quota_requests (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        region TEXT NOT NULL,
        machine_type TEXT NOT NULL,
        wanted_limit INTEGER NOT NULL,
        reason TEXT NOT NULL,
        state TEXT DEFAULT 'open' NOT NULL,
        created_by UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        granted_limit INTEGER,
        answer TEXT,
        decided_by UUID,
        decided_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_quota_requests PRIMARY KEY (id),
        CONSTRAINT fk_quota_requests_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_quota_requests_state CHECK (state IN ('open', 'granted', 'declined', 'withdrawn')),
        CONSTRAINT ck_quota_requests_decided CHECK
            (num_nulls(decided_by, decided_at) = CASE WHEN state = 'open' THEN 2 ELSE 0 END),
        CONSTRAINT ck_quota_requests_granted CHECK ((granted_limit IS NOT NULL) = (state = 'granted')),
        CONSTRAINT ck_quota_requests_limits CHECK (wanted_limit > 0 AND granted_limit BETWEEN 1 AND wanted_limit),
        CONSTRAINT ck_quota_requests_declined CHECK (state <> 'declined' OR answer IS NOT NULL),
        CONSTRAINT ck_quota_requests_answer CHECK (answer IS NULL OR state IN ('granted', 'declined'))
    )
    """,
    "COMMENT ON COLUMN quota_requests.wanted_limit IS 'machines that the project wants to be able to hold'",
    "COMMENT ON COLUMN quota_requests.created_by IS 'token'",
    "COMMENT ON COLUMN quota_requests.granted_limit IS 'the limit that was set instead of the one before'",
    "COMMENT ON COLUMN quota_requests.answer IS 'the operator''s, for the customer'",
    "COMMENT ON COLUMN quota_requests.decided_by IS 'token that granted, declined or withdrew it'",
    "CREATE UNIQUE INDEX uq_quota_requests_open ON quota_requests (project_id, region, machine_type)"
    " WHERE state = 'open'",
    "CREATE INDEX ix_quota_requests_project ON quota_requests (project_id, created_at, id)",
    "GRANT SELECT, INSERT ON quota_requests TO ipucloud_app",
    "GRANT UPDATE (state, granted_limit, answer, decided_by, decided_at) ON quota_requests TO ipucloud_app",
)
DOWN = ("DROP TABLE quota_requests",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
