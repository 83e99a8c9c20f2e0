"""Identities at OpenID Connect providers, sign-ins and logouts there, and command lines that wait for approval."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata

user_identities = sa.Table(
    "user_identities",
    metadata,
    sa.Column("issuer", sa.Text, primary_key=True),
    sa.Column("subject", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Uuid, sa.ForeignKey("users.id"), nullable=False),
    instant("created_at", default_now=True),
    sa.UniqueConstraint("user_id", "issuer"),
    comment="who a person is to OpenID Connect providers, one subject of each",
)

provider_sign_ins = sa.Table(
    "provider_sign_ins",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("state_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of `state`, which the provider returns"),
    sa.Column(
        "browser_hash",
        sa.LargeBinary,
        nullable=False,
        comment="SHA-256 of the cookie of the browser that began, of which nonce and code verifier are made",
    ),
    sa.Column("invitation_hash", sa.LargeBinary, comment="of the invitation to accept; NULL: none"),
    sa.Column("redirect_uri", sa.Text, nullable=False),
    instant("created_at", default_now=True),
    instant("expires_at", nullable=False),
    instant("used_at"),
    sa.CheckConstraint("octet_length(state_hash) = 32", name="state_hash"),
    sa.CheckConstraint("octet_length(browser_hash) = 32", name="browser_hash"),
    comment="sign-ins on their way through a provider; each is finished once",
)
sa.Index("uq_provider_sign_ins_state_hash", provider_sign_ins.c.state_hash, unique=True)
sa.Index("ix_provider_sign_ins_expires", provider_sign_ins.c.expires_at)

provider_logouts = sa.Table(
    "provider_logouts",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True, comment="SHA-256 of issuer and `jti`"),
    sa.Column("issuer", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, comment="who signed out; NULL: the provider said only in which session"),
    sa.Column("sid", sa.Text, comment="the session that ended there; NULL: all of the person"),
    instant("created_at", default_now=True),
    sa.CheckConstraint("octet_length(token_hash) = 32", name="token_hash"),
    comment="logout tokens of providers that took effect; each does so once",
)
sa.Index("ix_provider_logouts_created", provider_logouts.c.created_at)

device_logins = sa.Table(
    "device_logins",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("device_hash", sa.LargeBinary, nullable=False, comment="SHA-256 of the device code"),
    sa.Column("user_code", sa.Text, nullable=False, comment="what the person compares and enters; without its hyphen"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("project", sa.Text),
    sa.Column("address", sa.Text, nullable=False),
    instant("created_at", default_now=True),
    instant("expires_at", nullable=False),
    instant("polled_at"),
    instant("decided_at"),
    sa.Column(
        "member_id",
        sa.Uuid,
        sa.ForeignKey("tokens.id"),
        comment="the membership that approved; NULL: nobody yet, or denied",
    ),
    instant("used_at"),
    sa.CheckConstraint("octet_length(device_hash) = 32", name="device_hash"),
    sa.CheckConstraint("member_id IS NULL OR decided_at IS NOT NULL", name="approved"),
    sa.CheckConstraint("used_at IS NULL OR member_id IS NOT NULL", name="used"),
    comment="command lines that wait for a person to approve them in the panel",
)
sa.Index("uq_device_logins_device_hash", device_logins.c.device_hash, unique=True)
sa.Index("uq_device_logins_user_code", device_logins.c.user_code, unique=True)
sa.Index("ix_device_logins_member", device_logins.c.member_id)
sa.Index("ix_device_logins_expires", device_logins.c.expires_at)
