"""People: users, members of projects and billing accounts, invitations; who caused an event.

Revision ID: 0075
Revises: 0065
"""

from __future__ import annotations

from alembic import op

revision = "0075"
down_revision = "0065"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE users (
        id UUID NOT NULL,
        email TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        password_set_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_users PRIMARY KEY (id),
        CONSTRAINT ck_users_email CHECK (email = lower(email))
    )
    """,
    "COMMENT ON TABLE users IS 'people; where they are members, they have a token of the kind `member`'",
    "COMMENT ON COLUMN users.email IS 'normalised; whoever accepted an invitation to it'",
    "COMMENT ON COLUMN users.password_hash IS 'Argon2id, with its parameters'",
    "CREATE UNIQUE INDEX uq_users_email ON users (email)",
    "ALTER TABLE tokens ADD kind TEXT DEFAULT 'service' NOT NULL",
    "ALTER TABLE tokens ADD owner_id UUID",
    "COMMENT ON COLUMN tokens.owner_id IS 'whose it is; NULL: a service token'",
    "ALTER TABLE tokens ADD CONSTRAINT fk_tokens_owner_id FOREIGN KEY(owner_id) REFERENCES users (id)",
    "ALTER TABLE tokens ADD CONSTRAINT ck_tokens_kind CHECK (kind IN ('service', 'member', 'login', 'personal'))",
    "ALTER TABLE tokens ADD CONSTRAINT ck_tokens_owner CHECK ((owner_id IS NULL) = (kind = 'service'))",
    "ALTER TABLE tokens ADD CONSTRAINT ck_tokens_owner_home"
    " CHECK (owner_id IS NULL OR num_nonnulls(project_id, account_id) = 1)",
    "CREATE INDEX ix_tokens_owner ON tokens (owner_id) WHERE owner_id IS NOT NULL",
    "CREATE UNIQUE INDEX uq_tokens_project_member ON tokens (project_id, owner_id)"
    " WHERE kind = 'member' AND revoked_at IS NULL",
    "CREATE UNIQUE INDEX uq_tokens_account_member ON tokens (account_id, owner_id)"
    " WHERE kind = 'member' AND revoked_at IS NULL",
    """
    CREATE TABLE invitations (
        id UUID NOT NULL,
        project_id UUID,
        account_id UUID,
        email TEXT NOT NULL,
        role TEXT NOT NULL,
        secret_hash BYTEA NOT NULL,
        invited_by TEXT,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        accepted_at TIMESTAMP WITH TIME ZONE,
        revoked_at TIMESTAMP WITH TIME ZONE,
        member_id UUID,
        CONSTRAINT pk_invitations PRIMARY KEY (id),
        CONSTRAINT fk_invitations_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_invitations_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id),
        CONSTRAINT fk_invitations_project_id_member_id
            FOREIGN KEY(project_id, member_id) REFERENCES tokens (project_id, id),
        CONSTRAINT ck_invitations_one_home CHECK (num_nonnulls(project_id, account_id) = 1),
        CONSTRAINT ck_invitations_role CHECK (role IN ('viewer', 'operator', 'billing', 'owner', 'payer')
            AND (account_id IS NOT NULL) = (role = 'payer')),
        CONSTRAINT ck_invitations_email CHECK (email = lower(email)),
        CONSTRAINT ck_invitations_accepted CHECK ((accepted_at IS NULL) = (member_id IS NULL)),
        CONSTRAINT ck_invitations_ended_once CHECK (num_nonnulls(accepted_at, revoked_at) <= 1),
        CONSTRAINT ck_invitations_secret_hash CHECK (octet_length(secret_hash) = 32)
    )
    """,
    "COMMENT ON COLUMN invitations.project_id IS 'NULL: of an account'",
    "COMMENT ON COLUMN invitations.account_id IS 'NULL: of a project'",
    "COMMENT ON COLUMN invitations.secret_hash IS 'SHA-256 of the secret in the link'",
    "COMMENT ON COLUMN invitations.invited_by IS 'e-mail of the person, or name of the token'",
    "COMMENT ON COLUMN invitations.member_id IS 'the membership that came of it'",
    "CREATE UNIQUE INDEX uq_invitations_secret_hash ON invitations (secret_hash)",
    "CREATE UNIQUE INDEX uq_invitations_project_open ON invitations (project_id, email)"
    " WHERE accepted_at IS NULL AND revoked_at IS NULL",
    "CREATE UNIQUE INDEX uq_invitations_account_open ON invitations (account_id, email)"
    " WHERE accepted_at IS NULL AND revoked_at IS NULL",
    "CREATE INDEX ix_invitations_project ON invitations (project_id, created_at, id)",
    "CREATE INDEX ix_invitations_account ON invitations (account_id, created_at, id)",
    "CREATE INDEX ix_invitations_member ON invitations (project_id, member_id)",
    "ALTER TABLE events ADD actor TEXT DEFAULT nullif(current_setting('ipucloud.actor', true), '')",
    "COMMENT ON COLUMN events.actor IS 'e-mail of the person, or name of the token, that caused it; NULL: no request'",
    "GRANT SELECT, INSERT, UPDATE ON users, invitations TO ipucloud_app",
    "GRANT UPDATE (token_id) ON browser_sessions TO ipucloud_app",
)
DOWN = (
    "REVOKE UPDATE (token_id) ON browser_sessions FROM ipucloud_app",
    "ALTER TABLE events DROP actor",
    "DROP TABLE invitations",
    "DELETE FROM sign_in_links WHERE token_id IN (SELECT id FROM tokens WHERE owner_id IS NOT NULL)",
    "DELETE FROM browser_sessions WHERE token_id IN (SELECT id FROM tokens WHERE owner_id IS NOT NULL)",
    "UPDATE tokens SET revoked_at = coalesce(revoked_at, app_now()) WHERE owner_id IS NOT NULL",
    "DROP INDEX uq_tokens_account_member",
    "DROP INDEX uq_tokens_project_member",
    "ALTER TABLE tokens DROP owner_id",
    "ALTER TABLE tokens DROP kind",
    "DROP TABLE users",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
