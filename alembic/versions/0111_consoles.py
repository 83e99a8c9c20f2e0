"""The serial consoles of Poplar servers.

Revision ID: 0111
Revises: 0110
"""

from __future__ import annotations

from alembic import op

revision = "0111"
down_revision = "0110"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE console_boots (
        project_id UUID NOT NULL,
        server_id UUID NOT NULL,
        boot_id TEXT NOT NULL,
        number INTEGER NOT NULL,
        started_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE,
        text TEXT NOT NULL,
        dropped BIGINT NOT NULL,
        written BIGINT NOT NULL,
        observed_at TIMESTAMP WITH TIME ZONE NOT NULL,
        CONSTRAINT pk_console_boots PRIMARY KEY (project_id, server_id, boot_id),
        CONSTRAINT fk_console_boots_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_console_boots_project_id_server_id
            FOREIGN KEY(project_id, server_id) REFERENCES poplar_servers (project_id, id)
    )
    """,
    "COMMENT ON TABLE console_boots IS 'written by observation alone: serial consoles, the last boots of each server'",
    "COMMENT ON COLUMN console_boots.number IS 'counted per server by the site'",
    "COMMENT ON COLUMN console_boots.dropped IS 'bytes before the text that are gone'",
    "COMMENT ON COLUMN console_boots.written IS 'bytes of all boots of the server when it was read'",
    "CREATE INDEX ix_console_boots_observed ON console_boots (observed_at)",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON console_boots TO ipucloud_app",
)
DOWN = ("DROP TABLE console_boots",)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
