"""People sign in through OpenID Connect providers, and command lines through a browser that is signed in.

Revision ID: 0095
Revises: 0076
"""

from __future__ import annotations

from alembic import op

revision = "0095"
down_revision = "0076"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE users ALTER password_hash DROP NOT NULL",
    "ALTER TABLE users ALTER password_set_at DROP NOT NULL",
    "COMMENT ON COLUMN users.password_hash IS 'Argon2id, with its parameters; NULL: signs in through a provider only'",
    """
    CREATE TABLE user_identities (
        issuer TEXT NOT NULL,
        subject TEXT NOT NULL,
        user_id UUID NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_user_identities PRIMARY KEY (issuer, subject),
        CONSTRAINT fk_user_identities_user_id FOREIGN KEY(user_id) REFERENCES users (id),
        CONSTRAINT uq_user_identities_user_id_issuer UNIQUE (user_id, issuer)
    )
    """,
    "COMMENT ON TABLE user_identities IS 'who a person is to OpenID Connect providers, one subject of each'",
    """
    CREATE TABLE provider_sign_ins (
        id UUID NOT NULL,
        provider TEXT NOT NULL,
        state_hash BYTEA NOT NULL,
        browser_hash BYTEA NOT NULL,
        invitation_hash BYTEA,
        redirect_uri TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        used_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_provider_sign_ins PRIMARY KEY (id),
        CONSTRAINT ck_provider_sign_ins_state_hash CHECK (octet_length(state_hash) = 32),
        CONSTRAINT ck_provider_sign_ins_browser_hash CHECK (octet_length(browser_hash) = 32)
    )
    """,
    "COMMENT ON TABLE provider_sign_ins IS 'sign-ins on their way through a provider; each is finished once'",
    "COMMENT ON COLUMN provider_sign_ins.state_hash IS 'SHA-256 of `state`, which the provider returns'",
    "COMMENT ON COLUMN provider_sign_ins.browser_hash IS"
    " 'SHA-256 of the cookie of the browser that began, of which nonce and code verifier are made'",
    "COMMENT ON COLUMN provider_sign_ins.invitation_hash IS 'of the invitation to accept; NULL: none'",
    "CREATE UNIQUE INDEX uq_provider_sign_ins_state_hash ON provider_sign_ins (state_hash)",
    "CREATE INDEX ix_provider_sign_ins_expires ON provider_sign_ins (expires_at)",
    """
    CREATE TABLE device_logins (
        id UUID NOT NULL,
        device_hash BYTEA NOT NULL,
        user_code TEXT NOT NULL,
        name TEXT NOT NULL,
        project TEXT,
        address TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        polled_at TIMESTAMP WITH TIME ZONE,
        decided_at TIMESTAMP WITH TIME ZONE,
        member_id UUID,
        used_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_device_logins PRIMARY KEY (id),
        CONSTRAINT fk_device_logins_member_id FOREIGN KEY(member_id) REFERENCES tokens (id),
        CONSTRAINT ck_device_logins_device_hash CHECK (octet_length(device_hash) = 32),
        CONSTRAINT ck_device_logins_approved CHECK (member_id IS NULL OR decided_at IS NOT NULL),
        CONSTRAINT ck_device_logins_used CHECK (used_at IS NULL OR member_id IS NOT NULL)
    )
    """,
    "COMMENT ON TABLE device_logins IS 'command lines that wait for a person to approve them in the panel'",
    "COMMENT ON COLUMN device_logins.device_hash IS 'SHA-256 of the device code'",
    "COMMENT ON COLUMN device_logins.user_code IS 'what the person compares and enters; without its hyphen'",
    "COMMENT ON COLUMN device_logins.member_id IS 'the membership that approved; NULL: nobody yet, or denied'",
    "CREATE UNIQUE INDEX uq_device_logins_device_hash ON device_logins (device_hash)",
    "CREATE UNIQUE INDEX uq_device_logins_user_code ON device_logins (user_code)",
    "CREATE INDEX ix_device_logins_member ON device_logins (member_id)",
    "CREATE INDEX ix_device_logins_expires ON device_logins (expires_at)",
    "GRANT SELECT, INSERT, DELETE ON user_identities, provider_sign_ins, device_logins TO ipucloud_app",
    "GRANT UPDATE (used_at) ON provider_sign_ins TO ipucloud_app",
    "GRANT UPDATE (polled_at, decided_at, member_id, used_at) ON device_logins TO ipucloud_app",
)
DOWN = (
    "DROP TABLE device_logins",
    "DROP TABLE provider_sign_ins",
    "DROP TABLE user_identities",
    "UPDATE users SET password_hash = coalesce(password_hash, ''), password_set_at = coalesce(password_set_at, created_at)",
    "ALTER TABLE users ALTER password_set_at SET NOT NULL",
    "ALTER TABLE users ALTER password_hash SET NOT NULL",
    "COMMENT ON COLUMN users.password_hash IS 'Argon2id, with its parameters'",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
