"""Logins by which API processes forward requests to services.

Revision ID: 0150
Revises: 0140
"""

from __future__ import annotations

from alembic import op

revision = "0150"
down_revision = "0140"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE terminals ADD COLUMN purpose TEXT DEFAULT 'terminal' NOT NULL,
        ADD CONSTRAINT ck_terminals_purpose CHECK (purpose IN ('terminal', 'services'))
    """,
    "COMMENT ON TABLE terminals IS 'logins of API processes to Poplar servers, for a terminal or to reach services;"
    " the private key of one is in the memory of its process'",
)
DOWN = (
    "DELETE FROM work WHERE kind = 'terminal' AND key IN (SELECT id::text FROM terminals WHERE purpose = 'services')",
    "DELETE FROM terminals WHERE purpose = 'services'",
    "ALTER TABLE terminals DROP COLUMN purpose",
    "COMMENT ON TABLE terminals IS"
    " 'logins by browser; the private key of one is in the memory of the API process that serves it'",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
