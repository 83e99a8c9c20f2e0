"""Budgets, their thresholds, and what fired."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.ledger.tables import MONEY
from ipucloud.db.base import instant, metadata, one_of, tenant_key

MEASURES = ("actual", "forecast")
ACTIONS = ("refuse_creates", "suspend")

budgets = sa.Table(
    "budgets",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, comment="of a project, or of a tag in it"),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), comment="of an account"),
    sa.Column("tag_key", sa.Text),
    sa.Column("tag_value", sa.Text),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("amount", MONEY, nullable=False, comment="of a month"),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("month", sa.Date, comment="of which the figures are"),
    sa.Column("actual", MONEY),
    sa.Column("forecast", MONEY),
    instant("evaluated_at"),
    instant("created_at", default_now=True),
    instant("deleted_at"),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    tenant_key("budgets"),
    sa.CheckConstraint("num_nonnulls(project_id, account_id) = 1", name="owner"),
    sa.CheckConstraint(
        "num_nonnulls(tag_key, tag_value) IN (0, 2) AND (tag_key IS NULL OR project_id IS NOT NULL)", name="tag"
    ),
    sa.CheckConstraint("amount > 0", name="amount"),
    sa.CheckConstraint("num_nonnulls(month, actual, forecast, evaluated_at) IN (0, 4)", name="figures"),
)
sa.Index("ix_budgets_project", budgets.c.project_id, budgets.c.created_at, budgets.c.id)
sa.Index("ix_budgets_account", budgets.c.account_id, budgets.c.created_at, budgets.c.id)
sa.Index(
    "uq_budgets_living_name",
    budgets.c.project_id,
    budgets.c.account_id,
    budgets.c.name,
    unique=True,
    postgresql_nulls_not_distinct=True,
    postgresql_where=budgets.c.deleted_at.is_(None),
)

budget_thresholds = sa.Table(
    "budget_thresholds",
    metadata,
    sa.Column("budget_id", sa.Uuid, sa.ForeignKey("budgets.id"), primary_key=True),
    sa.Column("measure", sa.Text, primary_key=True),
    sa.Column("percent", sa.Integer, primary_key=True, comment="of the amount"),
    sa.Column("action", sa.Text),
    one_of("measure", MEASURES),
    one_of("action", ACTIONS),
    sa.CheckConstraint("percent BETWEEN 1 AND 1000", name="percent"),
)

budget_alerts = sa.Table(
    "budget_alerts",
    metadata,
    sa.Column("budget_id", sa.Uuid, sa.ForeignKey("budgets.id"), primary_key=True),
    sa.Column("month", sa.Date, primary_key=True),
    sa.Column("measure", sa.Text, primary_key=True),
    sa.Column("percent", sa.Integer, primary_key=True),
    sa.Column("figure", MONEY, nullable=False, comment="what was reached"),
    sa.Column("amount", MONEY, nullable=False, comment="the budget's, then"),
    instant("fired_at", default_now=True),
    one_of("measure", MEASURES),
    sa.CheckConstraint("extract(day FROM month) = 1", name="first_day"),
    sa.CheckConstraint("figure * 100 >= amount * percent", name="reached"),
    comment="append-only; the key lets a threshold fire once a month",
)

budget_suspensions = sa.Table(
    "budget_suspensions",
    metadata,
    sa.Column("budget_id", sa.Uuid, sa.ForeignKey("budgets.id"), primary_key=True),
    sa.Column("month", sa.Date, primary_key=True),
    sa.Column("measure", sa.Text, primary_key=True),
    sa.Column("percent", sa.Integer, primary_key=True),
    sa.Column("cluster_id", sa.Uuid, sa.ForeignKey("clusters.id"), primary_key=True),
    instant("suspended_at", default_now=True),
    one_of("measure", MEASURES),
    sa.CheckConstraint("extract(day FROM month) = 1", name="first_day"),
    comment="append-only; the key lets a threshold suspend a cluster once a month",
)
sa.Index("ix_budget_suspensions_cluster", budget_suspensions.c.cluster_id)
