"""Prepaid accounts and their holds."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.billing.ledger.tables import MONEY
from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key

POLICIES = ("warn", "refuse_creates", "suspend")
HOLDING = frozenset({"refuse_creates", "suspend"})
"""Policies under which new clusters need funds."""
STATES = ("funded", "empty")
REASONS = ("posted", "gone")
PAUSES = ("payment_failed", "month_limit")

prepaid_accounts = sa.Table(
    "prepaid_accounts",
    metadata,
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), primary_key=True),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("when_empty", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="funded", comment="as last reported"),
    instant("state_entered_at", default_now=True),
    sa.Column(
        "warn_hours",
        pg.ARRAY(sa.Integer),
        nullable=False,
        server_default=sa.text("'{72,24,4}'"),
        comment="funds that last no longer are reported",
    ),
    sa.Column("low_hours", sa.Integer, comment="as last reported: which of them; NULL: none"),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    one_of("when_empty", POLICIES),
    one_of("state", STATES),
    sa.CheckConstraint("1 <= ALL (warn_hours) AND cardinality(warn_hours) <= 5", name="warn_hours"),
    sa.CheckConstraint("low_hours IS NULL OR low_hours = ANY (warn_hours)", name="low_hours"),
    comment="one row to lock while something is held of an account's funds",
)

top_up_policies = sa.Table(
    "top_up_policies",
    metadata,
    sa.Column(
        "account_id", sa.Uuid, sa.ForeignKey("prepaid_accounts.account_id", ondelete="CASCADE"), primary_key=True
    ),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("amount", MONEY, nullable=False),
    sa.Column("below", MONEY, comment="when so much or less is left"),
    sa.Column("below_hours", sa.Integer, comment="when what is left lasts no longer"),
    sa.Column("month_limit", MONEY, nullable=False, comment="for the top-ups requested in a UTC month"),
    sa.Column("payment_id", sa.Uuid, sa.ForeignKey("payments.id"), comment="the top-up whose end is not reported yet"),
    instant("paused_at"),
    sa.Column("pause_reason", sa.Text),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    sa.CheckConstraint("amount > 0 AND month_limit >= amount", name="amount"),
    sa.CheckConstraint("num_nonnulls(below, below_hours) = 1 AND below > 0 AND below_hours > 0", name="below"),
    one_of("pause_reason", PAUSES),
    sa.CheckConstraint("num_nonnulls(paused_at, pause_reason) IN (0, 2)", name="paused"),
    sa.CheckConstraint("num_nonnulls(paused_at, payment_id) < 2", name="one_at_a_time"),
    comment="when and by how much a prepaid account is topped up",
)
sa.Index("ix_top_up_policies_payment", top_up_policies.c.payment_id)

create_holds = sa.Table(
    "create_holds",
    metadata,
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), nullable=False),
    sa.Column("amount", MONEY, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    instant("created_at", default_now=True),
    instant("released_at"),
    sa.Column("reason", sa.Text, comment="why it was released"),
    sa.Column("id", sa.Uuid, primary_key=True, server_default=sa.text("gen_random_uuid()")),
    tenant_key("create_holds"),
    same_project("create_holds", "cluster_id", "clusters"),
    one_of("reason", REASONS),
    sa.CheckConstraint("amount >= 0", name="amount"),
    sa.CheckConstraint("num_nonnulls(released_at, reason) IN (0, 2)", name="released"),
    comment="what a new or resumed cluster may come to before its first hour is posted",
)
sa.Index("ix_create_holds_cluster", create_holds.c.project_id, create_holds.c.cluster_id)
sa.Index(
    "uq_create_holds_open_cluster",
    create_holds.c.cluster_id,
    unique=True,
    postgresql_where=create_holds.c.released_at.is_(None),
)
sa.Index("ix_create_holds_account", create_holds.c.account_id)
sa.Index(
    "ix_create_holds_open",
    create_holds.c.account_id,
    postgresql_where=create_holds.c.released_at.is_(None),
)
