"""Billing accounts, and the projects whose hours they pay for."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, json_column, make_with, metadata, tenant_key

OPEN_DEFAULT_ACCOUNT = """
CREATE FUNCTION open_default_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO billing_accounts (id, name) VALUES (NEW.id, NEW.name);
  INSERT INTO project_accounts (project_id, account_id, valid_from) VALUES (NEW.id, NEW.id, 'epoch');
  RETURN NULL;
END $$
"""
OPEN_DEFAULT_ACCOUNT_TRIGGER = """
CREATE TRIGGER projects_account AFTER INSERT ON projects FOR EACH ROW EXECUTE FUNCTION open_default_account()
"""

PAYER_OF = """
CREATE FUNCTION payer_of(project uuid, instant timestamptz) RETURNS TABLE (account_id uuid)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT a.account_id FROM project_accounts a
   WHERE a.project_id = project AND a.valid_from <= instant ORDER BY a.valid_from DESC LIMIT 1
$$
"""
"""The account that pays for the project at that instant: one row. Inlined by the planner."""

PROJECTS_PAID_BY = """
CREATE FUNCTION projects_paid_by(account uuid) RETURNS TABLE (project_id uuid)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ever.project_id
    FROM (SELECT DISTINCT a.project_id FROM project_accounts a WHERE a.account_id = account) AS ever
   WHERE account = (SELECT payer.account_id FROM payer_of(ever.project_id, app_now()) AS payer)
$$
"""
"""The projects that the account pays for now. Inlined by the planner."""

PAYEES = """
CREATE FUNCTION payees() RETURNS SETOF uuid LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER
    SET search_path = public, pg_temp
    AS $$ SELECT project_id FROM project_accounts WHERE account_id = payer_id() $$
"""
"""The projects that the reading account has ever paid for; it sees all rows, as its owner does."""


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
    OPEN_DEFAULT_ACCOUNT,
    OPEN_DEFAULT_ACCOUNT_TRIGGER,
    PAYER_OF,
    PROJECTS_PAID_BY,
    PAYEES,
)
