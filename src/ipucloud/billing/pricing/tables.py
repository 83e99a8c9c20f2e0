"""Versions of list prices and contract prices."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.billing.accounts import tables as accounts
from ipucloud.billing.metering import tables as metering
from ipucloud.billing.pricing import functions
from ipucloud.db.base import instant, make_with, metadata

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
    functions.PRICES_PAID,
    functions.PRICED_MINUTES,
    functions.WITHDRAW_PRICE,
)
