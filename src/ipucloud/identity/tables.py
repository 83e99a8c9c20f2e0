"""Projects, tokens, browser sessions and SSH keys."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata, one_of, tenant_key
from ipucloud.identity.roles import Role

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("number", sa.BigInteger, sa.Identity(always=True), nullable=False),
    sa.Column("slug", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    instant("created_at", default_now=True),
    instant("deleted_at"),
    sa.UniqueConstraint("number", name="uq_projects_number"),
)
sa.Index("uq_projects_slug", projects.c.slug, unique=True)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=True, comment="NULL: of the platform, or of an account"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("display_prefix", sa.Text, nullable=False),
    sa.Column("secret_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the whole token"),
    sa.Column("created_by", sa.Uuid, nullable=True),
    instant("created_at", default_now=True),
    instant("expires_at"),
    instant("revoked_at"),
    instant("last_used_at"),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), comment="whose payers have it"),
    tenant_key("tokens"),
    one_of("role", Role),
    sa.CheckConstraint(
        "(project_id IS NULL AND account_id IS NULL) = (role IN ('admin', 'support'))", name="platform_role"
    ),
    sa.CheckConstraint("(account_id IS NOT NULL) = (role = 'payer')", name="account_role"),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) <= 1", name="one_home"),
    sa.CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),
    sa.UniqueConstraint("project_id", "id"),
)
sa.Index("uq_tokens_secret_hash", tokens.c.secret_hash, unique=True)
sa.Index("ix_tokens_account", tokens.c.account_id)

browser_sessions = sa.Table(
    "browser_sessions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("token_id", sa.Uuid, sa.ForeignKey("tokens.id"), nullable=False),
    sa.Column("secret_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the cookie's value"),
    instant("created_at", default_now=True),
    instant("expires_at", nullable=False),
    instant("idle_until", nullable=False),
    sa.CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),
    comment="people signed in with a token; a row is deleted when they sign out",
)
sa.Index("uq_browser_sessions_secret_hash", browser_sessions.c.secret_hash, unique=True)
sa.Index("ix_browser_sessions_token", browser_sessions.c.token_id, browser_sessions.c.created_at)
sa.Index("ix_browser_sessions_expires", browser_sessions.c.expires_at)

sign_in_links = sa.Table(
    "sign_in_links",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("token_id", sa.Uuid, sa.ForeignKey("tokens.id"), nullable=False),
    sa.Column("secret_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the code in the link"),
    instant("created_at", default_now=True),
    instant("expires_at", nullable=False),
    instant("used_at"),
    sa.CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),
    comment="each signs one browser in, once",
)
sa.Index("uq_sign_in_links_secret_hash", sign_in_links.c.secret_hash, unique=True)
sa.Index("ix_sign_in_links_token", sign_in_links.c.token_id)
sa.Index("ix_sign_in_links_expires", sign_in_links.c.expires_at)

ssh_keys = sa.Table(
    "ssh_keys",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("key_type", sa.Text, nullable=False),
    sa.Column("public_key", sa.Text, nullable=False, comment="re-serialised: type and base64, no comment"),
    sa.Column("fingerprint", sa.Text, nullable=False),
    instant("created_at", default_now=True),
    tenant_key("ssh_keys"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("project_id", "name"),
)
