"""SSH certificate authorities of projects, and which of them servers trust.

Revision ID: 0230
Revises: 0241
"""

from __future__ import annotations

from alembic import op

revision = "0230"
down_revision = "0241"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE ssh_authorities (
        id UUID NOT NULL,
        project_id UUID NOT NULL,
        public_key TEXT NOT NULL,
        private_key TEXT,
        serial BIGINT DEFAULT '0' NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_ssh_authorities PRIMARY KEY (id),
        CONSTRAINT fk_ssh_authorities_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT uq_ssh_authorities_project_id_id UNIQUE (project_id, id),
        CONSTRAINT ck_ssh_authorities_private_key CHECK ((ended_at IS NULL) = (private_key IS NOT NULL)),
        CONSTRAINT ck_ssh_authorities_public_key CHECK (public_key ~ '^ssh-ed25519 [A-Za-z0-9+/]+={0,2}$'),
        CONSTRAINT ck_ssh_authorities_serial CHECK (serial >= 0)
    )
    """,
    "COMMENT ON TABLE ssh_authorities IS 'each signs SSH certificates of a project''s members until it is rotated'",
    "COMMENT ON COLUMN ssh_authorities.private_key IS 'encrypted; NULL: it ended, and its key is gone'",
    "COMMENT ON COLUMN ssh_authorities.serial IS 'of the certificate that was issued last'",
    "CREATE UNIQUE INDEX uq_ssh_authorities_current ON ssh_authorities (project_id) WHERE ended_at IS NULL",
    "CREATE INDEX ix_ssh_authorities_ended ON ssh_authorities (project_id) WHERE ended_at IS NOT NULL",
    "GRANT SELECT, INSERT, UPDATE ON ssh_authorities TO ipucloud_app",
    "ALTER TABLE clusters ADD COLUMN ssh_authority TEXT",
    "COMMENT ON COLUMN clusters.ssh_authority IS"
    " 'public key whose certificates its servers are to accept, of keys_revision too; NULL: none'",
    "ALTER TABLE poplar_servers ADD COLUMN ssh_authority TEXT",
    "COMMENT ON COLUMN poplar_servers.ssh_authority IS 'as in clusters; the one it was last seen to trust'",
)
DOWN = (
    "ALTER TABLE poplar_servers DROP COLUMN ssh_authority",
    "ALTER TABLE clusters DROP COLUMN ssh_authority",
    "DROP TABLE ssh_authorities",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
