"""Suspended clusters: servers that are off, and what an account holds for a cluster that is resumed.

Revision ID: 0009
Revises: 0008
"""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE poplar_servers DROP CONSTRAINT ck_poplar_servers_state",
    "ALTER TABLE poplar_servers ADD CONSTRAINT ck_poplar_servers_state"
    " CHECK (state IN ('pending', 'running', 'off', 'deleted'))",
    "ALTER TABLE create_holds ADD id UUID DEFAULT gen_random_uuid() NOT NULL",
    "ALTER TABLE create_holds DROP CONSTRAINT pk_create_holds, ADD CONSTRAINT pk_create_holds PRIMARY KEY (id)",
    "CREATE UNIQUE INDEX uq_create_holds_open_cluster ON create_holds (cluster_id) WHERE released_at IS NULL",
    "COMMENT ON TABLE create_holds IS 'what a new or resumed cluster may come to before its first hour is posted'",
)
DOWN = (
    "COMMENT ON TABLE create_holds IS 'what a new cluster may come to before its first hour is posted'",
    "DROP INDEX uq_create_holds_open_cluster",
    "DELETE FROM create_holds h USING create_holds later WHERE later.cluster_id = h.cluster_id"
    " AND (later.created_at, later.id) > (h.created_at, h.id)",
    "ALTER TABLE create_holds DROP CONSTRAINT pk_create_holds, DROP COLUMN id",
    "ALTER TABLE create_holds ADD CONSTRAINT pk_create_holds PRIMARY KEY (cluster_id)",
    "UPDATE poplar_servers SET state = 'running' WHERE state = 'off'",
    "ALTER TABLE poplar_servers DROP CONSTRAINT ck_poplar_servers_state",
    "ALTER TABLE poplar_servers ADD CONSTRAINT ck_poplar_servers_state"
    " CHECK (state IN ('pending', 'running', 'deleted'))",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
