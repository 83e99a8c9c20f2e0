"""Terminals.

Revision ID: 0120
Revises: 0100
"""

from __future__ import annotations

from alembic import op

revision = "0120"
down_revision = "0100"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE terminals (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        cluster_id UUID NOT NULL,
        server_id UUID NOT NULL,
        public_key TEXT NOT NULL,
        created_by UUID NOT NULL,
        actor TEXT DEFAULT nullif(current_setting('ipucloud.actor', true), ''),
        actor_kind TEXT DEFAULT coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform') NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        key_until TIMESTAMP WITH TIME ZONE NOT NULL,
        key_seen_at TIMESTAMP WITH TIME ZONE,
        key_gone_at TIMESTAMP WITH TIME ZONE,
        connected_at TIMESTAMP WITH TIME ZONE,
        alive_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE,
        ended_by TEXT,
        CONSTRAINT pk_terminals PRIMARY KEY (id),
        CONSTRAINT fk_terminals_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_terminals_project_id_cluster_id
            FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id),
        CONSTRAINT fk_terminals_project_id_server_id
            FOREIGN KEY(project_id, server_id) REFERENCES poplar_servers (project_id, id),
        CONSTRAINT ck_terminals_actor_kind CHECK (actor_kind IN ('user', 'token', 'operator', 'platform')),
        CONSTRAINT ck_terminals_ended_by CHECK
            (ended_by IN ('shell', 'client', 'idle', 'time_limit', 'access', 'server', 'service')),
        CONSTRAINT ck_terminals_ended CHECK ((ended_at IS NULL) = (ended_by IS NULL))
    )
    """,
    "COMMENT ON TABLE terminals IS"
    " 'logins by browser; the private key of one is in the memory of the API process that serves it'",
    "COMMENT ON COLUMN terminals.public_key IS 'of this login only'",
    "COMMENT ON COLUMN terminals.created_by IS 'token'",
    "COMMENT ON COLUMN terminals.actor IS 'e-mail of the person, or name of the token, that asked'",
    "CREATE INDEX ix_terminals_cluster ON terminals (project_id, cluster_id)",
    "CREATE INDEX ix_terminals_server ON terminals (project_id, server_id)",
    "CREATE INDEX ix_terminals_open ON terminals (project_id, created_at) WHERE ended_at IS NULL",
    "GRANT SELECT, INSERT, UPDATE ON terminals TO ipucloud_app",
)
DOWN = ("DELETE FROM work WHERE kind = 'terminal'", "DROP TABLE terminals")


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
