"""Payment methods that customers saved at Stripe, and what Stripe was asked to collect: its part fills them."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.ledger.tables import MONEY
from ipucloud.db.base import instant, metadata

payment_methods = sa.Table(
    "payment_methods",
    metadata,
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), primary_key=True),
    sa.Column("customer", sa.Text, nullable=False, comment="Stripe's id, cus_…"),
    sa.Column("payment_method", sa.Text, nullable=False, comment="Stripe's id, pm_…"),
    instant("set_at", default_now=True),
    comment="what automatic top-ups of an account are charged to",
)

payment_charges = sa.Table(
    "payment_charges",
    metadata,
    sa.Column("payment_id", sa.Uuid, sa.ForeignKey("payments.id"), primary_key=True),
    sa.Column("idempotency_key", sa.Uuid, nullable=False, comment="of every request for it"),
    sa.Column("customer", sa.Text, nullable=False),
    sa.Column("payment_method", sa.Text, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False, comment="in Stripe's smallest unit of the currency"),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("intent", sa.Text, comment="id of the PaymentIntent; NULL: no answer has named it yet"),
    instant("created_at", default_now=True),
    sa.CheckConstraint("amount > 0", name="amount"),
    sa.UniqueConstraint("idempotency_key", name="uq_payment_charges_idempotency_key"),
    sa.UniqueConstraint("intent", name="uq_payment_charges_intent"),
    comment="what Stripe was asked to collect, as it is asked again: a payment is one charge",
)

found_reversals = sa.Table(
    "found_reversals",
    metadata,
    sa.Column("id", sa.Text, primary_key=True, comment="Stripe's id of a refund or dispute, re_… or du_…"),
    sa.Column("payment_id", sa.Uuid, sa.ForeignKey("payments.id"), nullable=False),
    sa.Column("amount", MONEY, nullable=False),
    sa.Column("status", sa.Text, nullable=False, comment="Stripe's"),
    sa.Column("taken", sa.Boolean, nullable=False, comment="whether Stripe has the money back; false: no longer"),
    instant("found_at", default_now=True),
    sa.CheckConstraint("amount > 0", name="amount"),
    comment="what Stripe took back of payments that had come in",
)
sa.Index("ix_found_reversals_payment", found_reversals.c.payment_id)
