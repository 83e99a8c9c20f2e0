"""Billing accounts, and the projects whose hours they pay for."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.accounts import functions
from ipucloud.db.base import instant, json_column, make_with, metadata, tenant_key

billing_accounts = sa.Table(
    "billing_accounts",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True, comment="a project's first account has the project's id"),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, comment="NULL: the installation's"),
    sa.Column("legal_name", sa.Text),
    sa.Column("address", sa.Text),
    sa.Column("tax_id", sa.Text),
    sa.Column("payment_days", sa.Integer, nullable=False, server_default="30", comment="from invoice to due date"),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    instant("created_at", default_now=True),
    sa.Column("country", sa.Text, comment="NULL: the seller's"),
    sa.Column("tax_exempt", sa.Boolean, nullable=False, server_default=sa.false()),
    json_column("e_invoice", default="'{}'", comment="further facts of electronic invoices"),
    sa.CheckConstraint("country ~ '^[A-Z]{2}$'", name="country"),
    sa.CheckConstraint("currency ~ '^[A-Z]{3}$'", name="currency"),
    sa.CheckConstraint("payment_days BETWEEN 0 AND 365", name="payment_days"),
)

project_accounts = sa.Table(
    "project_accounts",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("valid_from", sa.DateTime(timezone=True), primary_key=True, comment="until the next row of the project"),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), nullable=False),
    tenant_key("project_accounts"),
    sa.CheckConstraint("date_trunc('hour', valid_from, 'UTC') = valid_from", name="whole_hour"),
    comment="who pays for a project's hours",
)
sa.Index("ix_project_accounts_account", project_accounts.c.account_id)

make_with(
    project_accounts,
    functions.OPEN_DEFAULT_ACCOUNT,
    functions.OPEN_DEFAULT_ACCOUNT_TRIGGER,
    functions.PAYER_OF,
    functions.PROJECTS_PAID_BY,
    functions.PAYEES,
)
