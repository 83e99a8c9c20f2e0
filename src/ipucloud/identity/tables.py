"""Projects, people, tokens, invitations, browser sessions and SSH keys."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key
from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import TokenKind

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

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("email", sa.Text, nullable=False, comment="normalised; whoever accepted an invitation to it"),
    sa.Column(
        "password_hash", sa.Text, comment="Argon2id, with its parameters; NULL: signs in through a provider only"
    ),
    sa.Column("password_set_at", sa.DateTime(timezone=True), server_default=sa.text("app_now()")),
    instant("created_at", default_now=True),
    sa.Column("language", sa.Text, nullable=False, server_default="en"),
    sa.Column("external_id", sa.Text, comment="id at the identity provider that provisions people"),
    sa.Column("display_name", sa.Text),
    sa.Column("formatted_name", sa.Text),
    sa.Column("given_name", sa.Text),
    sa.Column("family_name", sa.Text),
    instant("updated_at", default_now=True),
    instant("deactivated_at"),
    instant("deleted_at"),
    sa.Column(
        "verified_at",
        sa.DateTime(timezone=True),
        comment="when the person first showed that the e-mail is theirs; NULL: not yet",
    ),
    sa.CheckConstraint("email = lower(email)", name="email"),
    one_of("language", ("en", "de")),
    sa.CheckConstraint("deleted_at IS NULL OR deactivated_at IS NOT NULL", name="deleted"),
    comment="people; where they are members, they have a token of the kind `member`",
)
sa.Index("uq_users_email", users.c.email, unique=True, postgresql_where=users.c.deleted_at.is_(None))
sa.Index("ix_users_external_id", users.c.external_id, postgresql_where=users.c.external_id.is_not(None))
sa.Index("ix_users_email", users.c.email)

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
    sa.Column("kind", sa.Text, nullable=False, server_default="service"),
    sa.Column("owner_id", sa.Uuid, sa.ForeignKey("users.id"), comment="whose it is; NULL: a service token"),
    sa.Column("cost_limit", sa.Numeric, comment="of the clusters of token_clusters, together; NULL: none"),
    sa.Column("cost_currency", sa.Text),
    sa.Column("scopes", postgresql.ARRAY(sa.Text), comment="those that it is narrowed to; NULL: all that the role has"),
    sa.Column(
        "allowed_sources",
        postgresql.ARRAY(sa.Text),
        nullable=False,
        server_default="{}",
        comment="networks from which it may be used; none: from everywhere",
    ),
    sa.Column("clusters", postgresql.ARRAY(sa.Uuid), comment="those that it is limited to; NULL: it is not"),
    tenant_key("tokens"),
    one_of("role", Role),
    one_of("kind", TokenKind),
    sa.CheckConstraint("(owner_id IS NULL) = (kind = 'service')", name="owner"),
    sa.CheckConstraint("owner_id IS NULL OR num_nonnulls(project_id, account_id) = 1", name="owner_home"),
    sa.CheckConstraint(
        "(project_id IS NULL AND account_id IS NULL) = (role IN ('admin', 'support'))", name="platform_role"
    ),
    sa.CheckConstraint("(account_id IS NOT NULL) = (role = 'payer')", name="account_role"),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) <= 1", name="one_home"),
    sa.CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),
    sa.CheckConstraint("cardinality(scopes) > 0 AND array_position(scopes, NULL) IS NULL", name="scopes"),
    sa.CheckConstraint("scopes IS NULL OR kind IN ('service', 'personal')", name="scopes_kind"),
    sa.CheckConstraint("cardinality(clusters) > 0 AND array_position(clusters, NULL) IS NULL", name="clusters"),
    sa.CheckConstraint(
        "clusters IS NULL OR project_id IS NOT NULL AND kind IN ('service', 'personal')", name="clusters_kind"
    ),
    sa.CheckConstraint("cost_limit > 0", name="cost_limit"),
    sa.CheckConstraint("num_nulls(cost_limit, cost_currency) IN (0, 2)", name="cost_currency"),
    sa.CheckConstraint("cost_limit IS NULL OR role = 'operator'", name="cost_limit_role"),
    sa.UniqueConstraint("project_id", "id"),
)
sa.Index("uq_tokens_secret_hash", tokens.c.secret_hash, unique=True)
sa.Index("ix_tokens_account", tokens.c.account_id)
sa.Index("ix_tokens_owner", tokens.c.owner_id, postgresql_where=tokens.c.owner_id.is_not(None))
sa.Index("ix_tokens_clusters", tokens.c.project_id, postgresql_where=tokens.c.clusters.is_not(None))
_MEMBER = sa.and_(tokens.c.kind == sa.literal_column("'member'"), tokens.c.revoked_at.is_(None))
sa.Index("uq_tokens_project_member", tokens.c.project_id, tokens.c.owner_id, unique=True, postgresql_where=_MEMBER)
sa.Index("uq_tokens_account_member", tokens.c.account_id, tokens.c.owner_id, unique=True, postgresql_where=_MEMBER)

invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, comment="NULL: of an account"),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), comment="NULL: of a project"),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("secret_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the secret in the link"),
    sa.Column("invited_by", sa.Text, comment="e-mail of the person, or name of the token"),
    instant("created_at", default_now=True),
    instant("expires_at", nullable=False),
    instant("accepted_at"),
    instant("revoked_at"),
    sa.Column("member_id", sa.Uuid, comment="the membership that came of it"),
    sa.Column(
        "mailed_hash",
        sa.LargeBinary,
        comment="secret_hash, if its link was sent by e-mail only; a version that shows links leaves another",
    ),
    tenant_key("invitations"),
    same_project("invitations", "member_id", "tokens"),
    sa.UniqueConstraint("project_id", "id"),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="one_home"),
    sa.CheckConstraint(
        "role IN ('viewer', 'operator', 'billing', 'owner', 'payer') AND (account_id IS NOT NULL) = (role = 'payer')",
        name="role",
    ),
    sa.CheckConstraint("email = lower(email)", name="email"),
    sa.CheckConstraint("(accepted_at IS NULL) = (member_id IS NULL)", name="accepted"),
    sa.CheckConstraint("num_nonnulls(accepted_at, revoked_at) <= 1", name="ended_once"),
    sa.CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),
)
sa.Index("uq_invitations_secret_hash", invitations.c.secret_hash, unique=True)
_OPEN = sa.and_(invitations.c.accepted_at.is_(None), invitations.c.revoked_at.is_(None))
sa.Index(
    "uq_invitations_project_open", invitations.c.project_id, invitations.c.email, unique=True, postgresql_where=_OPEN
)
sa.Index(
    "uq_invitations_account_open", invitations.c.account_id, invitations.c.email, unique=True, postgresql_where=_OPEN
)
sa.Index("ix_invitations_project", invitations.c.project_id, invitations.c.created_at, invitations.c.id)
sa.Index("ix_invitations_account", invitations.c.account_id, invitations.c.created_at, invitations.c.id)
sa.Index("ix_invitations_member", invitations.c.project_id, invitations.c.member_id)

browser_sessions = sa.Table(
    "browser_sessions",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("token_id", sa.Uuid, sa.ForeignKey("tokens.id"), nullable=False),
    sa.Column("secret_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the cookie's value"),
    instant("created_at", default_now=True),
    instant("expires_at", nullable=False),
    instant("idle_until", nullable=False),
    sa.Column("issuer", sa.Text, comment="of the provider through which it began; NULL: through none"),
    sa.Column("subject", sa.Text, comment="who the person is there"),
    sa.Column("sid", sa.Text, comment="the session there; NULL: the provider did not say"),
    sa.CheckConstraint("octet_length(secret_hash) = 32", name="secret_hash"),
    sa.CheckConstraint("(issuer IS NULL) = (subject IS NULL) AND (issuer IS NOT NULL OR sid IS NULL)", name="provider"),
    comment="people signed in with a token; a row is deleted when they sign out",
)
sa.Index("uq_browser_sessions_secret_hash", browser_sessions.c.secret_hash, unique=True)
sa.Index("ix_browser_sessions_token", browser_sessions.c.token_id, browser_sessions.c.created_at)
sa.Index("ix_browser_sessions_expires", browser_sessions.c.expires_at)
_AT_PROVIDER = browser_sessions.c.issuer.is_not(None)
sa.Index(
    "ix_browser_sessions_subject",
    browser_sessions.c.issuer,
    browser_sessions.c.subject,
    postgresql_where=_AT_PROVIDER,
)
sa.Index("ix_browser_sessions_sid", browser_sessions.c.issuer, browser_sessions.c.sid, postgresql_where=_AT_PROVIDER)

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

ssh_authorities = sa.Table(
    "ssh_authorities",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("public_key", sa.Text, nullable=False),
    sa.Column("private_key", sa.Text, comment="encrypted; NULL: it ended, and its key is gone"),
    sa.Column(
        "serial", sa.BigInteger, nullable=False, server_default="0", comment="of the certificate that was issued last"
    ),
    instant("created_at", default_now=True),
    instant("ended_at"),
    tenant_key("ssh_authorities"),
    sa.UniqueConstraint("project_id", "id"),
    sa.CheckConstraint("(ended_at IS NULL) = (private_key IS NOT NULL)", name="private_key"),
    sa.CheckConstraint("public_key ~ '^ssh-ed25519 [A-Za-z0-9+/]+={0,2}$'", name="public_key"),
    sa.CheckConstraint("serial >= 0", name="serial"),
    comment="each signs SSH certificates of a project's members until it is rotated",
)
sa.Index(
    "uq_ssh_authorities_current",
    ssh_authorities.c.project_id,
    unique=True,
    postgresql_where=ssh_authorities.c.ended_at.is_(None),
)
sa.Index(
    "ix_ssh_authorities_ended",
    ssh_authorities.c.project_id,
    postgresql_where=ssh_authorities.c.ended_at.is_not(None),
)


rate_limits = sa.Table(
    "rate_limits",
    metadata,
    sa.Column("key", sa.LargeBinary, primary_key=True, comment="digest of the limit and its caller"),
    sa.Column("taken", sa.BigInteger, nullable=False, comment="by all processes together"),
    instant("at", default_now=True),
    sa.CheckConstraint("taken > 0", name="taken"),
    prefixes=["UNLOGGED"],
    comment="unlogged: a crash of the server forgets it, and every process goes on with what it counted itself",
)
sa.Index("ix_rate_limits_at", rate_limits.c.at)
