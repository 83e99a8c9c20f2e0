"""How often a step was checked, and whether it takes longer than usual.

Revision ID: 0012
Revises: 0011
"""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


UP = (
    "ALTER TABLE operation_steps ADD checks INTEGER DEFAULT 0 NOT NULL, ADD blocked BOOLEAN DEFAULT false NOT NULL",
    "COMMENT ON COLUMN operation_steps.checks IS 'that found it not done'",
    "COMMENT ON COLUMN operation_steps.blocked IS 'it takes longer than usual'",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE operation_steps DROP COLUMN blocked, DROP COLUMN checks")
