"""SSH keys of running clusters: their revision, and which keys each Poplar server was seen to accept.

Revision ID: 0060
Revises: 0059
"""

from __future__ import annotations

from alembic import op

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE clusters ADD COLUMN keys_revision integer DEFAULT 1 NOT NULL",
    "COMMENT ON COLUMN clusters.keys_revision IS 'counts changes of ssh_keys'",
    "ALTER TABLE poplar_servers ADD COLUMN ssh_keys jsonb, ADD COLUMN ssh_keys_since timestamp with time zone",
    "COMMENT ON COLUMN poplar_servers.ssh_keys IS 'as in clusters; those it was last seen to accept, NULL: not seen'",
)
DOWN = (
    "ALTER TABLE poplar_servers DROP COLUMN ssh_keys_since, DROP COLUMN ssh_keys",
    "ALTER TABLE clusters DROP COLUMN keys_revision",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
