"""Limits of requests that several API processes share.

Revision ID: 0241
Revises: 0240
"""

from __future__ import annotations

from alembic import op

revision = "0241"
down_revision = "0240"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE UNLOGGED TABLE rate_limits (
        key BYTEA NOT NULL,
        taken BIGINT NOT NULL,
        at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_rate_limits PRIMARY KEY (key),
        CONSTRAINT ck_rate_limits_taken CHECK (taken > 0)
    )
    """,
    "COMMENT ON TABLE rate_limits IS 'unlogged: a crash of the server forgets it, and every process goes on with what it"
    " counted itself'",
    "COMMENT ON COLUMN rate_limits.key IS 'digest of the limit and its caller'",
    "COMMENT ON COLUMN rate_limits.taken IS 'by all processes together'",
    "CREATE INDEX ix_rate_limits_at ON rate_limits (at)",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON rate_limits TO ipucloud_app",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE rate_limits")
