"""Endpoints of projects and of billing accounts, and deliveries to each."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.contract.webhooks import DeliveryState, Disabled
from ipucloud.db.base import instant, json_column, metadata, one_of, same_project, tenant_key

webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, comment="NULL: of an account"),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), comment="NULL: of a project"),
    sa.Column("url", sa.Text, nullable=False, comment="as it is shown: without the values of its query"),
    sa.Column("query", sa.Text, comment="of the url; sealed"),
    sa.Column("description", sa.Text, nullable=False, server_default=""),
    sa.Column("event_types", pg.ARRAY(sa.Text), nullable=False, comment="such as cluster.*; empty: all"),
    sa.Column("secret", sa.Text, nullable=False, comment="sealed"),
    sa.Column("previous_secret", sa.Text, comment="sealed; signs too until previous_until"),
    instant("previous_until"),
    sa.Column("disabled", sa.Text, comment="why nothing is sent; NULL: it is"),
    instant("disabled_at"),
    instant("failing_since"),
    sa.Column(
        "after_transaction", sa.BigInteger, nullable=False, comment="transaction of the last event that was read"
    ),
    sa.Column("after_id", sa.BigInteger, nullable=False),
    instant("created_at", default_now=True),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    tenant_key("webhooks"),
    one_of("disabled", Disabled),
    sa.CheckConstraint("(disabled IS NULL) = (disabled_at IS NULL)", name="disabled_at"),
    sa.CheckConstraint("(previous_secret IS NULL) = (previous_until IS NULL)", name="previous"),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="one_home"),
    sa.UniqueConstraint("project_id", "id"),
    sa.UniqueConstraint("account_id", "id"),
)
sa.Index("ix_webhooks_project", webhooks.c.project_id, webhooks.c.created_at, webhooks.c.id)
sa.Index("ix_webhooks_account", webhooks.c.account_id, webhooks.c.created_at, webhooks.c.id)

webhook_deliveries = sa.Table(
    "webhook_deliveries",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True, comment="the message's id, the same at every try"),
    sa.Column("project_id", sa.Uuid, comment="NULL: of an account"),
    sa.Column("account_id", sa.Uuid, comment="NULL: of a project"),
    sa.Column("webhook_id", sa.Uuid, nullable=False),
    sa.Column("event_transaction", sa.BigInteger, comment="NULL: a ping"),
    sa.Column("event_id", sa.BigInteger),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("payload", sa.Text, nullable=False, comment="the body, byte for byte as it is signed"),
    sa.Column("state", sa.Text, nullable=False, server_default=DeliveryState.PENDING.value),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0", comment="of the schedule under way"),
    instant("next_at", default_now=False),
    json_column("log", default="'[]'"),
    instant("created_at", default_now=True),
    instant("delivered_at"),
    tenant_key("webhook_deliveries"),
    same_project("webhook_deliveries", "webhook_id", "webhooks"),
    sa.ForeignKeyConstraint(
        ["account_id", "webhook_id"],
        ["webhooks.account_id", "webhooks.id"],
        name="fk_webhook_deliveries_account_id_webhook_id",
    ),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="one_home"),
    one_of("state", DeliveryState),
    sa.CheckConstraint("(state = 'pending') = (next_at IS NOT NULL)", name="next"),
    sa.CheckConstraint("(event_id IS NULL) = (event_transaction IS NULL)", name="event"),
    sa.UniqueConstraint("webhook_id", "event_transaction", "event_id"),
)
sa.Index(
    "ix_webhook_deliveries_due",
    webhook_deliveries.c.webhook_id,
    webhook_deliveries.c.next_at,
    postgresql_where=webhook_deliveries.c.next_at.is_not(None),
)
sa.Index(
    "ix_webhook_deliveries_log",
    webhook_deliveries.c.project_id,
    webhook_deliveries.c.webhook_id,
    webhook_deliveries.c.created_at,
    webhook_deliveries.c.id,
)
sa.Index(
    "ix_webhook_deliveries_account",
    webhook_deliveries.c.account_id,
    webhook_deliveries.c.webhook_id,
    webhook_deliveries.c.created_at,
    webhook_deliveries.c.id,
)
sa.Index("ix_webhook_deliveries_created", webhook_deliveries.c.created_at)
