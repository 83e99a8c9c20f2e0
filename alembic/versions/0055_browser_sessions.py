"""Browsers sign in: sessions of tokens, and links that begin one.

Revision ID: 0055
Revises: 0054
"""

from __future__ import annotations

from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE browser_sessions (
        id UUID NOT NULL,
        token_id UUID NOT NULL,
        secret_hash BYTEA NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        idle_until TIMESTAMP WITH TIME ZONE NOT NULL,
        CONSTRAINT pk_browser_sessions PRIMARY KEY (id),
        CONSTRAINT fk_browser_sessions_token_id FOREIGN KEY(token_id) REFERENCES tokens (id),
        CONSTRAINT ck_browser_sessions_secret_hash CHECK (octet_length(secret_hash) = 32)
    )
    """,
    """
    CREATE TABLE sign_in_links (
        id UUID NOT NULL,
        token_id UUID NOT NULL,
        secret_hash BYTEA NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        used_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_sign_in_links PRIMARY KEY (id),
        CONSTRAINT fk_sign_in_links_token_id FOREIGN KEY(token_id) REFERENCES tokens (id),
        CONSTRAINT ck_sign_in_links_secret_hash CHECK (octet_length(secret_hash) = 32)
    )
    """,
    "CREATE UNIQUE INDEX uq_browser_sessions_secret_hash ON browser_sessions (secret_hash)",
    "CREATE INDEX ix_browser_sessions_token ON browser_sessions (token_id, created_at)",
    "CREATE INDEX ix_browser_sessions_expires ON browser_sessions (expires_at)",
    "CREATE UNIQUE INDEX uq_sign_in_links_secret_hash ON sign_in_links (secret_hash)",
    "CREATE INDEX ix_sign_in_links_token ON sign_in_links (token_id)",
    "CREATE INDEX ix_sign_in_links_expires ON sign_in_links (expires_at)",
    "COMMENT ON TABLE browser_sessions IS 'people signed in with a token; a row is deleted when they sign out'",
    "COMMENT ON COLUMN browser_sessions.secret_hash IS 'SHA-256 of the cookie''s value'",
    "COMMENT ON TABLE sign_in_links IS 'each signs one browser in, once'",
    "COMMENT ON COLUMN sign_in_links.secret_hash IS 'SHA-256 of the code in the link'",
    "COMMENT ON COLUMN idempotency_keys.scope IS 'project, token, or the nil uuid for the platform'",
    "GRANT SELECT, INSERT, DELETE ON browser_sessions, sign_in_links TO ipucloud_app",
    "GRANT UPDATE (idle_until) ON browser_sessions TO ipucloud_app",
    "GRANT UPDATE (used_at) ON sign_in_links TO ipucloud_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("COMMENT ON COLUMN idempotency_keys.scope IS 'project, or the nil uuid for the platform'")
    op.execute("DROP TABLE sign_in_links")
    op.execute("DROP TABLE browser_sessions")
