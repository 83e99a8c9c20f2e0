"""The event log."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, json_column, metadata, tenant_key

events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column(
        "transaction",
        sa.BigInteger,
        nullable=False,
        server_default=sa.text("(pg_current_xact_id()::text)::bigint"),
        comment="readers stay below the oldest open one",
    ),
    sa.Column("project_id", sa.Uuid, comment="NULL: of an account, or of the platform, for operators only"),
    sa.Column(
        "account_id",
        sa.Uuid,
        sa.ForeignKey("billing_accounts.id"),
        comment="whose payers read it; NULL: of a project, or of the platform",
    ),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("subject_type", sa.Text, nullable=False),
    sa.Column("subject_id", sa.Uuid, comment="NULL: the region"),
    sa.Column("operation_id", sa.Uuid),
    sa.Column("request_id", sa.Text),
    json_column("data", default="'{}'"),
    instant("created_at", default_now=True),
    sa.Column("operators", sa.Boolean, nullable=False, server_default="false", comment="operators read it too"),
    sa.Column("region", sa.Text, comment="its slug; NULL: none"),
    sa.Column(
        "actor",
        sa.Text,
        server_default=sa.text("nullif(current_setting('ipucloud.actor', true), '')"),
        comment="e-mail of the person, or name of the token, that caused it; NULL: no request",
    ),
    sa.Column(
        "actor_home",
        sa.Uuid,
        server_default=sa.text("CAST(nullif(current_setting('ipucloud.actor_home', true), '') AS uuid)"),
        comment="project or account of that token, whose readers see the next two; NULL: the platform's, or none",
    ),
    sa.Column(
        "address",
        sa.Text,
        server_default=sa.text("nullif(current_setting('ipucloud.address', true), '')"),
        comment="IP address that the request came from; NULL: no request",
    ),
    sa.Column(
        "agent",
        sa.Text,
        server_default=sa.text("nullif(current_setting('ipucloud.agent', true), '')"),
        comment="program that sent it, as it says; NULL: no request, or it does not say",
    ),
    tenant_key("events"),
    sa.CheckConstraint(
        "num_nonnulls(project_id, account_id) = 1 OR operators AND account_id IS NULL",
        name="reader",
    ),
    sa.CheckConstraint("project_id IS NULL AND account_id IS NULL OR subject_id IS NOT NULL", name="subject"),
    sa.CheckConstraint("length(address) <= 64 AND length(agent) <= 200", name="origin"),
)
sa.Index("ix_events_feed", events.c.project_id, events.c.transaction, events.c.id)
sa.Index("ix_events_subject", events.c.project_id, events.c.subject_id, events.c.transaction, events.c.id)
sa.Index(
    "ix_events_account",
    events.c.account_id,
    events.c.transaction,
    events.c.id,
    postgresql_where=events.c.account_id.is_not(None),
)
sa.Index("ix_events_operators", events.c.transaction, events.c.id, postgresql_where=events.c.operators)
sa.Index("ix_events_request", events.c.request_id, postgresql_where=events.c.request_id.is_not(None))
