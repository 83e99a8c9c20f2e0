"""Poplar servers that restart, and which start of theirs was the last before that.

Revision ID: 0057
Revises: 0056
"""

from __future__ import annotations

from alembic import op

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE poplar_servers ADD COLUMN boot_before text",
    "COMMENT ON COLUMN poplar_servers.boot_before IS 'while it restarts: its boot id before that, once known'",
    "ALTER TABLE poplar_servers DROP CONSTRAINT ck_poplar_servers_state",
    "ALTER TABLE poplar_servers ADD CONSTRAINT ck_poplar_servers_state"
    " CHECK (state IN ('pending', 'running', 'rebooting', 'off', 'deleted'))",
)
DOWN = (
    "UPDATE poplar_servers SET state = 'running' WHERE state = 'rebooting'",
    "ALTER TABLE poplar_servers DROP CONSTRAINT ck_poplar_servers_state",
    "ALTER TABLE poplar_servers ADD CONSTRAINT ck_poplar_servers_state"
    " CHECK (state IN ('pending', 'running', 'off', 'deleted'))",
    "ALTER TABLE poplar_servers DROP COLUMN boot_before",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
