"""Versions of list prices and contract prices."""

from __future__ import annotations

from typing import Any

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


def _versions(table: str, key: str) -> tuple[sa.Column[Any] | sa.Constraint, ...]:
    """Versions of a price, which never overlap; `key`: SQL of what it is the price of."""
    return (
        sa.Column("sku", sa.Text, nullable=False),
        sa.Column("region", sa.Text, nullable=False),
        sa.Column("currency", sa.Text, nullable=False),
        sa.Column(
            "unit_price",
            sa.Numeric(20, 10),
            nullable=False,
            comment="per minute of the article's unit, mostly a machine",
        ),
        instant("valid_from", nullable=False),
        instant("valid_to"),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column(
            "follows",
            sa.Uuid,
            sa.ForeignKey(f"{table}.id"),
            comment="the version that gives way to this one, which had the end follows_end",
        ),
        instant("follows_end"),
        sa.Column(
            "restores",
            sa.Uuid,
            sa.ForeignKey(f"{table}.id"),
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
            (sa.text(f"textrange({key}, {key}, '[]')"), "&&"),
            (sa.text("tstzrange(valid_from, valid_to)"), "&&"),
            name=f"ex_{table}_no_overlap",
            using="gist",
        ),
    )


_LIST_KEY = "sku || ' ' || region || ' ' || currency"
prices = sa.Table("prices", metadata, sa.Column("id", sa.Uuid, primary_key=True), *_versions("prices", _LIST_KEY))
contract_prices = sa.Table(
    "contract_prices",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("account_id", sa.Uuid, sa.ForeignKey("billing_accounts.id"), nullable=False),
    *_versions("contract_prices", f"account_id::text || ' ' || {_LIST_KEY}"),
    comment="what an account pays instead of the list price",
)
for _priced in (prices, contract_prices):
    for _name in ("follows", "restores", "corrected_by"):
        sa.Index(f"ix_{_priced.name}_{_name}", _priced.c[_name])
_KEY = ("sku", "region", "currency", "valid_from")
sa.Index("ix_prices_key", *(prices.c[name] for name in _KEY))
sa.Index("ix_contract_prices_key", *(contract_prices.c[name] for name in ("account_id", *_KEY)))

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
