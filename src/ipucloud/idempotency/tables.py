"""Idempotency keys, written in the transaction of their request's effect: answers, and for ever what moved money."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.billing.ledger.functions import final
from ipucloud.billing.ledger.tables import billing_months
from ipucloud.db.base import instant, json_column, make_with, metadata

idempotency_keys = sa.Table(
    "idempotency_keys",
    metadata,
    sa.Column("scope", sa.Uuid, primary_key=True, comment="project, token, or the nil uuid for the platform"),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False),
    sa.Column("status", sa.SmallInteger, nullable=False),
    json_column("headers", default="'{}'"),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("subject_id", sa.Uuid, nullable=True, comment="kept until 24 h after this object is gone"),
    instant("created_at", default_now=True),
)
sa.Index("ix_idempotency_keys_created", idempotency_keys.c.created_at)

money_requests = sa.Table(
    "money_requests",
    metadata,
    sa.Column("scope", sa.Uuid, primary_key=True, comment="project, or the nil uuid for the platform"),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.LargeBinary, nullable=False, comment="SHA-256 of the request"),
    sa.Column("payment_id", sa.Uuid, sa.ForeignKey("payments.id")),
    sa.Column("credit_id", sa.Uuid, sa.ForeignKey("promo_credits.id")),
    sa.Column("credit_note_id", sa.Uuid, sa.ForeignKey("credit_notes.id")),
    instant("created_at", default_now=True),
    sa.CheckConstraint("num_nonnulls(payment_id, credit_id, credit_note_id) = 1", name="made_one"),
    comment="append-only; requests that moved money, by their keys, for ever",
)
for _name in ("payment", "credit", "credit_note"):
    sa.Index(f"ix_money_requests_{_name}", money_requests.c[f"{_name}_id"])
make_with(money_requests, *final("money_requests"))
money_requests.add_is_dependent_on(billing_months)  # which the trigger's function is made with
