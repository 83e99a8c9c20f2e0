"""Versions of list prices and contract prices."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.billing.accounts import tables as accounts
from ipucloud.billing.metering import tables as metering
from ipucloud.billing.pricing import functions
from ipucloud.db.base import instant, json_column, make_with, metadata

price_corrections = sa.Table(
    "price_corrections",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column(
        "account_id",
        sa.Uuid,
        sa.ForeignKey("billing_accounts.id"),
        comment="of a contract price; NULL: the list price",
    ),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("unit_price", sa.Numeric(20, 10), nullable=False),
    instant("valid_from", nullable=False),
    instant("valid_to"),
    sa.Column(
        "version_id",
        sa.Uuid,
        nullable=False,
        comment="the version of prices or contract_prices that holds the correction",
    ),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("requested_by", sa.Uuid, nullable=False),
    json_column("effects", default="'[]'", comment="what it changes for whom, as computed when it was accepted"),
    instant("created_at", default_now=True),
    instant("finished_at"),
    sa.CheckConstraint("valid_to > valid_from", name="valid"),
    comment="past prices that were corrected; finished when every closed hour was rated again",
)
sa.Index("ix_price_corrections_account", price_corrections.c.account_id)

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
    sa.Column(
        "restores",
        sa.Uuid,
        sa.ForeignKey("prices.id"),
        comment="the version whose price comes back with this one, because the one between has an end",
    ),
    sa.CheckConstraint("unit_price >= 0", name="unit_price"),
    sa.Column(
        "corrected_by",
        sa.Uuid,
        sa.ForeignKey("price_corrections.id"),
        comment="the correction that took all of its time",
    ),
    sa.CheckConstraint("valid_to > valid_from OR valid_to = valid_from AND corrected_by IS NOT NULL", name="valid"),
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
sa.Index("ix_prices_restores", prices.c.restores)
sa.Index("ix_prices_corrected_by", prices.c.corrected_by)
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
    sa.Column(
        "restores",
        sa.Uuid,
        sa.ForeignKey("contract_prices.id"),
        comment="the version whose price comes back with this one, because the one between has an end",
    ),
    sa.CheckConstraint("unit_price >= 0", name="unit_price"),
    sa.Column(
        "corrected_by",
        sa.Uuid,
        sa.ForeignKey("price_corrections.id"),
        comment="the correction that took all of its time",
    ),
    sa.CheckConstraint("valid_to > valid_from OR valid_to = valid_from AND corrected_by IS NOT NULL", name="valid"),
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
sa.Index("ix_contract_prices_restores", contract_prices.c.restores)
sa.Index("ix_contract_prices_corrected_by", contract_prices.c.corrected_by)
sa.Index(
    "ix_contract_prices_key",
    *(contract_prices.c[name] for name in ("account_id", "sku", "region", "currency", "valid_from")),
)

for _table in (prices, accounts.project_accounts, metering.usage_intervals):
    contract_prices.add_is_dependent_on(_table)

make_with(
    prices,
    functions.NOTE_LATE_PRICE,
    functions.REFUSE_CHANGE_OF_PRICE,
    functions.GUARD_WITHDRAWAL,
    *functions.price_triggers("prices"),
    *functions.withdrawal_triggers("prices"),
)
make_with(
    contract_prices,
    *functions.price_triggers("contract_prices"),
    *functions.withdrawal_triggers("contract_prices"),
    functions.ACCOUNT_PRICES,
    functions.PRICE_HOLES,
    functions.PRICES_PAID,
    functions.PRICED_MINUTES,
    functions.WITHDRAW_PRICE,
    functions.CUT_PRICE,
    functions.FOLLOW_PRICE,
)
