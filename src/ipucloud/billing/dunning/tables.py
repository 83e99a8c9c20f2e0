"""Accounts' dunning policies, and the reminders that were sent."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.db.base import instant, metadata, one_of

RESTRICTIONS = ("refuse_creates", "suspend")

dunning_policies = sa.Table(
    "dunning_policies",
    metadata,
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), primary_key=True),
    sa.Column("remind_after", pg.ARRAY(sa.Integer), nullable=False, comment="days after an invoice's due date"),
    sa.Column("refuse_creates_after", sa.Integer, comment="days; NULL: never"),
    sa.Column("suspend_after", sa.Integer, comment="days; NULL: never"),
    sa.Column("restriction", sa.Text, comment="as last reported; NULL: none"),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    sa.CheckConstraint("1 <= ALL (remind_after) AND cardinality(remind_after) <= 5", name="remind_after"),
    sa.CheckConstraint("refuse_creates_after > 0 AND suspend_after > 0", name="days"),
    sa.CheckConstraint("suspend_after >= refuse_creates_after", name="order"),
    one_of("restriction", RESTRICTIONS),
    comment="what follows when invoices of an account are overdue",
)

dunning_reminders = sa.Table(
    "dunning_reminders",
    metadata,
    sa.Column("invoice_id", sa.Uuid, sa.ForeignKey("invoices.id"), primary_key=True),
    sa.Column("days", sa.Integer, primary_key=True, comment="the level that was reached"),
    instant("sent_at", default_now=True),
    comment="append-only; one for each level of an overdue invoice",
)
