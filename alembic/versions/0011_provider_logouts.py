"""Sessions know through which session of a provider they began, and logout tokens of providers take effect once.

Revision ID: 0011_provider_logouts
Revises: 0010_successors_of_services
"""

from __future__ import annotations

from alembic import op

revision = "0011_provider_logouts"
down_revision = "0010_successors_of_services"
branch_labels = None
depends_on = None

_UPGRADE = """
ALTER TABLE browser_sessions ADD COLUMN issuer text, ADD COLUMN subject text, ADD COLUMN sid text;
ALTER TABLE browser_sessions ADD CONSTRAINT ck_browser_sessions_provider
    CHECK ((issuer IS NULL) = (subject IS NULL) AND (issuer IS NOT NULL OR sid IS NULL));
COMMENT ON COLUMN browser_sessions.issuer IS 'of the provider through which it began; NULL: through none';
COMMENT ON COLUMN browser_sessions.subject IS 'who the person is there';
COMMENT ON COLUMN browser_sessions.sid IS 'the session there; NULL: the provider did not say';
CREATE INDEX ix_browser_sessions_subject ON browser_sessions (issuer, subject) WHERE issuer IS NOT NULL;
CREATE INDEX ix_browser_sessions_sid ON browser_sessions (issuer, sid) WHERE issuer IS NOT NULL;

CREATE TABLE provider_logouts (
    token_hash bytea NOT NULL,
    issuer text NOT NULL,
    subject text,
    sid text,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_provider_logouts PRIMARY KEY (token_hash),
    CONSTRAINT ck_provider_logouts_token_hash CHECK (octet_length(token_hash) = 32)
);
COMMENT ON TABLE provider_logouts IS 'logout tokens of providers that took effect; each does so once';
COMMENT ON COLUMN provider_logouts.token_hash IS 'SHA-256 of issuer and `jti`';
COMMENT ON COLUMN provider_logouts.subject IS 'who signed out; NULL: the provider said only in which session';
COMMENT ON COLUMN provider_logouts.sid IS 'the session that ended there; NULL: all of the person';
CREATE INDEX ix_provider_logouts_created ON provider_logouts (created_at);
GRANT SELECT, INSERT, DELETE ON provider_logouts TO ipucloud_app;
"""


def upgrade() -> None:
    op.execute(_UPGRADE)


def downgrade() -> None:
    op.execute("DROP TABLE provider_logouts")
    op.execute("ALTER TABLE browser_sessions DROP COLUMN issuer, DROP COLUMN subject, DROP COLUMN sid")
