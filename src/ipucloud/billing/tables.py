"""Price versions and usage intervals: the only facts a bill is made of. Beside them, the tables of the ledger."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.billing import ledger_functions as functions
from ipucloud.billing.ledger_tables import (
    billing_accounts,
    billing_months,
    dirty_hours,
    hour_closes,
    ledger_accounts,
    ledger_transfers,
    make_with,
    project_accounts,
    usage_charges,
)
from ipucloud.billing.live_functions import GUARD_WITHDRAWAL, PRICES_PAID, WITHDRAW_PRICE, withdrawal_triggers
from ipucloud.db.base import instant, metadata, same_project, tenant_key

__all__ = [
    "billing_accounts",
    "billing_months",
    "contract_prices",
    "dirty_hours",
    "hour_closes",
    "ledger_accounts",
    "ledger_transfers",
    "prices",
    "project_accounts",
    "usage_charges",
    "usage_intervals",
]

prices = sa.Table(
    "prices",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column(
        "unit_price", sa.Numeric(20, 10), nullable=False, comment="per minute of the article's unit, mostly a machine"
    ),
    instant("valid_from", nullable=False),
    instant("valid_to"),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column(
        "follows",
        sa.Uuid,
        sa.ForeignKey("prices.id"),
        comment="the version that gives way to this one, which had the end follows_end",
    ),
    instant("follows_end"),
    sa.CheckConstraint("unit_price >= 0", name="unit_price"),
    sa.CheckConstraint("valid_to > valid_from", name="valid"),
    sa.CheckConstraint(
        "date_trunc('second', valid_from, 'UTC') = valid_from AND date_trunc('second', valid_to, 'UTC') = valid_to",
        name="whole_seconds",
    ),
    pg.ExcludeConstraint(
        (
            sa.text(
                "textrange(sku || ' ' || region || ' ' || currency, sku || ' ' || region || ' ' || currency, '[]')"
            ),
            "&&",
        ),
        (sa.text("tstzrange(valid_from, valid_to)"), "&&"),
        name="ex_prices_no_overlap",
        using="gist",
    ),
)
sa.Index("ix_prices_follows", prices.c.follows)
sa.Index("ix_prices_key", prices.c.sku, prices.c.region, prices.c.currency, prices.c.valid_from)

_CONTRACT_KEY = "account_id::text || ' ' || sku || ' ' || region || ' ' || currency"
contract_prices = sa.Table(
    "contract_prices",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), nullable=False),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column(
        "unit_price", sa.Numeric(20, 10), nullable=False, comment="per minute of the article's unit, mostly a machine"
    ),
    instant("valid_from", nullable=False),
    instant("valid_to"),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column(
        "follows",
        sa.Uuid,
        sa.ForeignKey("contract_prices.id"),
        comment="the version that gives way to this one, which had the end follows_end",
    ),
    instant("follows_end"),
    sa.CheckConstraint("unit_price >= 0", name="unit_price"),
    sa.CheckConstraint("valid_to > valid_from", name="valid"),
    sa.CheckConstraint(
        "date_trunc('second', valid_from, 'UTC') = valid_from AND date_trunc('second', valid_to, 'UTC') = valid_to",
        name="whole_seconds",
    ),
    pg.ExcludeConstraint(
        (sa.text(f"textrange({_CONTRACT_KEY}, {_CONTRACT_KEY}, '[]')"), "&&"),
        (sa.text("tstzrange(valid_from, valid_to)"), "&&"),
        name="ex_contract_prices_no_overlap",
        using="gist",
    ),
    comment="what an account pays instead of the list price",
)
sa.Index("ix_contract_prices_follows", contract_prices.c.follows)
sa.Index(
    "ix_contract_prices_key",
    *(contract_prices.c[name] for name in ("account_id", "sku", "region", "currency", "valid_from")),
)

for _table in (prices, project_accounts):
    contract_prices.add_is_dependent_on(_table)

usage_intervals = sa.Table(
    "usage_intervals",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False, comment="machines"),
    instant("anchor_at", nullable=False),
    instant("started_at", nullable=False),
    instant("ended_at"),
    tenant_key("usage_intervals"),
    same_project("usage_intervals", "cluster_id", "clusters"),
    sa.CheckConstraint("quantity > 0", name="quantity"),
    sa.CheckConstraint("anchor_at <= started_at AND started_at <= ended_at", name="order"),
    sa.CheckConstraint(
        "date_trunc('second', anchor_at, 'UTC') = anchor_at AND date_trunc('second', started_at, 'UTC') = started_at"
        " AND date_trunc('second', ended_at, 'UTC') = ended_at",
        name="whole_seconds",
    ),
    pg.ExcludeConstraint(
        (sa.text("textrange(cluster_id::text, cluster_id::text, '[]')"), "&&"),
        (sa.text("tstzrange(started_at, ended_at)"), "&&"),
        name="ex_usage_intervals_no_overlap",
        using="gist",
    ),
)
sa.Index("ix_usage_intervals_cluster", usage_intervals.c.project_id, usage_intervals.c.cluster_id)
sa.Index(
    "uq_usage_intervals_open",
    usage_intervals.c.cluster_id,
    unique=True,
    postgresql_where=usage_intervals.c.ended_at.is_(None),
)

sa.Index("ix_usage_intervals_started", usage_intervals.c.started_at)
sa.Index("ix_usage_intervals_ended", usage_intervals.c.ended_at)

FINAL_INTERVAL = """
CREATE FUNCTION refuse_change_of_ended_interval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'usage interval % has ended and never changes', OLD.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
FINAL_INTERVAL_TRIGGER = """
CREATE TRIGGER usage_intervals_final BEFORE UPDATE ON usage_intervals FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_ended_interval()
"""


make_with(
    prices,
    functions.NOTE_LATE_PRICE,
    functions.REFUSE_CHANGE_OF_PRICE,
    GUARD_WITHDRAWAL,
    *functions.price_triggers("prices"),
    *withdrawal_triggers("prices"),
)
make_with(
    contract_prices,
    *functions.price_triggers("contract_prices"),
    *withdrawal_triggers("contract_prices"),
    functions.ACCOUNT_PRICES,
    PRICES_PAID,
    WITHDRAW_PRICE,
)
make_with(
    usage_intervals,
    FINAL_INTERVAL,
    FINAL_INTERVAL_TRIGGER,
    functions.NOTE_LATE_USAGE,
    functions.NOTE_LATE_USAGE_TRIGGER,
)
